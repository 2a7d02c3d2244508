#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/operators/rows/simple_iterator.hpp"

namespace headrace::detail {

namespace {

/// Error rows count as skipped rows, too.
class skip_iterator final : public operator_iterator {
public:
  skip_iterator(engine& shared, const dataset_node& node, int64_t count,
                std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      input_(std::move(input)),
      count_(count),
      left_(count_ < 0 ? SIZE_MAX : static_cast<size_t>(count_)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    constexpr size_t most = 4096; // dropped rows are not limited by `wanted`, but they take memory
    if (count_ < 0)
      return std::nullopt; // the input is not read, as it may be infinite
    while (left_ != 0) {
      auto dropped = input_->next({std::min(left_, most), limits{}.bytes});
      if (!dropped)
        return std::nullopt;
      if (engine_.stopped())
        return last_failure(cancelled("the iteration was stopped"));
      left_ -= dropped->rows;
    }
    return input_->next(wanted);
  }
  // Saves as numbers: the number of rows that are still to be skipped; as parts: the input.
  void save_to(position& to) const override {
    to.numbers = {left_};
    put(to, *input_);
  }
  status restore_from(position_reader& from) override {
    left_ = from.number(left_);
    return from.restore(*input_);
  }

private:
  std::unique_ptr<iterator> input_;
  const int64_t count_; ///< negative: all rows
  size_t left_;
};

opened open_skip(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(const auto count, shared.number_of(node, at, node->as<skip_parameters>().count));
  HEADRACE_ASSIGN(auto input, shared.make_input(node, at));
  return std::unique_ptr<iterator>{
    std::make_unique<skip_iterator>(shared, *node, count, std::move(input))};
}

void encode_skip(const dataset_node& node, node_writer& to) {
  auto out = to.over_input(to.out.initSkip());
  out.setCount(node.as<skip_parameters>().count.value_or(0));
  to.computed(out);
}

result<dataset_ptr> decode_skip(node_reader& from) {
  const auto in = from.in.getSkip();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  HEADRACE_ASSIGN(const auto count, from.number(in.getCount(), in.getComputed()));
  return make_skip(std::move(rows), count);
}

std::string shown_skip(const dataset_node& node) {
  return shown_number(node.as<skip_parameters>().count);
}

dataset_ptr cardinality_of_skip(const dataset_ptr& x) {
  const auto count = number_of(*x, x->as<skip_parameters>().count);
  return cardinality_by_finite(x, [&](const expr& n) {
    return where(count < 0, constant(int64_t{0}), maximum(n - count, 0));
  });
}

} // namespace

constinit const operator_record skip_record{
  .name = "skip",
  .arm = schema::Dataset::SKIP,
  .encode = encode_skip,
  .decode = decode_skip,
  .open = open_skip,
  .cardinality = cardinality_of_skip,
  .shown = shown_skip,
};

} // namespace headrace::detail
