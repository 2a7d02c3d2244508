#include "headrace/pipeline/operators/simple_iterator.hpp"

namespace headrace::detail {

namespace {

class take_iterator final : public operator_iterator {
public:
  take_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      input_(std::move(input)),
      left_(node.count < 0 ? SIZE_MAX : static_cast<size_t>(node.count)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    if (left_ == 0)
      return std::nullopt;
    auto out = input_->next({std::min(wanted.rows, left_), wanted.bytes});
    if (out && node_.count >= 0)
      left_ -= out->rows;
    if (left_ == 0)
      input_.reset(); // frees files and threads before the last rows are used
    return out;
  }
  // Numbers: rows left; parts: the input, while there are any.
  void save_to(position& to) const override {
    to.numbers = {left_};
    if (left_ != 0)
      put(to, *input_);
  }
  status restore_from(position_reader& from) override {
    left_ = from.number(left_);
    if (left_ != 0)
      return from.restore(*input_);
    input_.reset();
    return {};
  }

private:
  std::unique_ptr<iterator> input_;
  size_t left_;
};

} // namespace

opened open_take(engine& shared, const dataset_ptr& node, const place& at) {
  return open_over_input<take_iterator>(shared, node, at);
}

} // namespace headrace::detail
