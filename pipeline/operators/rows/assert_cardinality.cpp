#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/operators/rows/simple_iterator.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

class assert_cardinality_iterator final : public operator_iterator {
public:
  assert_cardinality_iterator(engine& shared, const dataset_node& node,
                              std::unique_ptr<iterator> input)
    : operator_iterator(shared, node), input_(std::move(input)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    const bool infinite = count() == infinite_cardinality;
    const auto left = infinite ? SIZE_MAX : static_cast<size_t>(count()) - given_;
    auto out = input_->next({std::clamp<size_t>(left, 1, wanted.rows), wanted.bytes});
    if (!out) {
      if (left == 0)
        return out;
      return last_failure(failed_precondition(
        fmt::format("assert_cardinality: the dataset has {} elements; {} were announced", given_,
                    infinite ? "infinitely many" : std::to_string(count()))));
    }
    if (left == 0)
      return last_failure(failed_precondition(fmt::format(
        "assert_cardinality: the dataset has more than the {} elements that were announced",
        count())));
    given_ += out->rows;
    return out;
  }
  // Saves as numbers: the number of returned rows; as parts: the input.
  void save_to(position& to) const override {
    to.numbers = {given_};
    put(to, *input_);
  }
  status restore_from(position_reader& from) override {
    given_ = from.number(count() < 0 ? UINT64_MAX : static_cast<uint64_t>(count()));
    return from.restore(*input_);
  }

private:
  int64_t count() const { return node_.as<assert_cardinality_parameters>().count; }

  std::unique_ptr<iterator> input_;
  uint64_t given_ = 0;
};

void encode_assert_cardinality(const dataset_node& node, node_writer& to) {
  to.over_input(to.out.initAssertCardinality())
    .setCount(node.as<assert_cardinality_parameters>().count);
}

result<dataset_ptr> decode_assert_cardinality(node_reader& from) {
  const auto in = from.in.getAssertCardinality();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  return make_assert_cardinality(std::move(rows), in.getCount());
}

} // namespace

constinit const operator_record assert_cardinality_record{
  .name = "assert_cardinality",
  .arm = schema::Dataset::ASSERT_CARDINALITY,
  .encode = encode_assert_cardinality,
  .decode = decode_assert_cardinality,
  .open = open_over_input<assert_cardinality_iterator>,
};

} // namespace headrace::detail
