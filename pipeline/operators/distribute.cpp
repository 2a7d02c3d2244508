#include "headrace/pipeline/operators/open.hpp"

namespace headrace::detail {

namespace {

class distribute_iterator final : public operator_iterator {
public:
  distribute_iterator(engine& shared, const dataset_node& node,
                      std::unique_ptr<element_source> elements)
    : operator_iterator(shared, node), elements_(std::move(elements)) {}

protected:
  std::optional<block> produce(const limits& wanted) override { return elements_->next(wanted); }
  void save_to(position& to) const override {
    to.refused =
      unimplemented("distribute: what a service gives has no positions that can be saved; "
                    "save those of datasets that are read without it");
  }
  status restore_from(position_reader&) override {
    return unimplemented("what a service gives has no positions to begin at");
  }

private:
  std::unique_ptr<element_source> elements_;
};

} // namespace

opened open_distribute(engine& shared, const dataset_ptr& node, const place&) {
  if (!shared.context().distribute)
    return failed_precondition("distribute: there is no service to read from where this runs");
  HEADRACE_ASSIGN(auto elements, shared.context().distribute(*node));
  return std::unique_ptr<iterator>{
    std::make_unique<distribute_iterator>(shared, *node, std::move(elements))};
}

} // namespace headrace::detail
