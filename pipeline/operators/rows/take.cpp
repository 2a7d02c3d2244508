#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/operators/rows/simple_iterator.hpp"

namespace headrace::detail {

namespace {

class take_iterator final : public operator_iterator {
public:
  take_iterator(engine& shared, const dataset_node& node, int64_t count,
                std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      input_(std::move(input)),
      count_(count),
      left_(count_ < 0 ? SIZE_MAX : static_cast<size_t>(count_)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    if (left_ == 0)
      return std::nullopt;
    auto out = input_->next({std::min(wanted.rows, left_), wanted.bytes});
    if (out && count_ >= 0)
      left_ -= out->rows;
    if (left_ == 0)
      input_.reset(); // files and threads are released before the last rows are used
    return out;
  }
  // Saves as numbers: the number of rows still to be returned; as parts, unless it is 0: the input.
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
  const int64_t count_; ///< negative: all rows
  size_t left_;
};

opened open_take(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(const auto count, shared.number_of(node, at, node->as<take_parameters>().count));
  HEADRACE_ASSIGN(auto input, shared.make_input(node, at));
  return std::unique_ptr<iterator>{
    std::make_unique<take_iterator>(shared, *node, count, std::move(input))};
}

void encode_take(const dataset_node& node, node_writer& to) {
  auto out = to.over_input(to.out.initTake());
  out.setCount(node.as<take_parameters>().count.value_or(0));
  to.computed(out);
}

result<dataset_ptr> decode_take(node_reader& from) {
  const auto in = from.in.getTake();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  HEADRACE_ASSIGN(const auto count, from.number(in.getCount(), in.getComputed()));
  return make_take(std::move(rows), count);
}

std::string shown_take(const dataset_node& node) {
  return shown_number(node.as<take_parameters>().count);
}

dataset_ptr cardinality_of_take(const dataset_ptr& x) {
  const auto count = number_of(*x, x->as<take_parameters>().count);
  return cardinality_by_input(
    x, [&](const expr& n) { return where(count < 0, n, where(n < 0, count, minimum(n, count))); });
}

} // namespace

constinit const operator_record take_record{
  .name = "take",
  .arm = schema::Dataset::TAKE,
  .encode = encode_take,
  .decode = decode_take,
  .open = open_take,
  .cardinality = cardinality_of_take,
  .shown = shown_take,
};

} // namespace headrace::detail
