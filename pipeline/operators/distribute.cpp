#include "headrace/pipeline/functions/build.hpp"
#include "headrace/pipeline/graph/free_parameters.hpp"
#include "headrace/pipeline/operators/open.hpp"

namespace headrace::detail {

namespace {

class distribute_iterator final : public operator_iterator {
public:
  distribute_iterator(engine& shared, const dataset_node& node,
                      std::unique_ptr<element_source> elements)
    : operator_iterator(shared, node), elements_(std::move(elements)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    auto out = elements_->next(wanted);
    if (!out && !elements_->was_empty())
      engine_.note_shared_elements();
    return out;
  }
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

namespace {

/// The value of a parameter, in the row of the function around the place.
expr_ptr value_of(const expr_ptr& parameter, const environment* names) {
  while (names != nullptr && names->scope != parameter->scope.get()) names = names->outer;
  if (names == nullptr)
    throw error{internal_error("distribute: a parameter of a function outside of that function")};
  return make_constant(names->values[static_cast<size_t>(parameter->attrs.index)]).value();
}

} // namespace

opened open_distribute(engine& shared, const dataset_ptr& node, const place& at) {
  if (!shared.context().distribute)
    return failed_precondition("distribute: there is no service to read from where this runs");
  auto what = node;
  if (at.in_function())
    // The service does not know the function: it is given the dataset for this row.
    what = bind_parameters(
      node, [&](const expr_ptr& parameter) { return value_of(parameter, at.names()); });
  HEADRACE_ASSIGN(auto elements, shared.context().distribute(*what));
  return std::unique_ptr<iterator>{
    std::make_unique<distribute_iterator>(shared, *node, std::move(elements))};
}

} // namespace headrace::detail
