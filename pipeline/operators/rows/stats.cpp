#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/operators/rows/simple_iterator.hpp"

namespace headrace::detail {

namespace {

/// Returns the rows of its input unchanged. The operator's counters measure them.
class stats_iterator final : public operator_iterator {
public:
  stats_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input)
    : operator_iterator(shared, node), input_(std::move(input)) {}

protected:
  std::optional<block> produce(const limits& wanted) override { return input_->next(wanted); }
  // The position of the input is saved as a part of this one.
  void save_to(position& to) const override { put(to, *input_); }
  status restore_from(position_reader& from) override { return from.restore(*input_); }

private:
  std::unique_ptr<iterator> input_;
};

void encode_stats(const dataset_node& node, node_writer& to) {
  const auto& own = node.as<stats_parameters>();
  auto out = to.over_input(to.out.initStats());
  out.setTag(text_of(own.tag));
  out.setBytes(own.bytes);
}

result<dataset_ptr> decode_stats(node_reader& from) {
  const auto in = from.in.getStats();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  return make_stats(std::move(rows), string_of(in.getTag()), in.getBytes());
}

std::string shown_stats(const dataset_node& node) { return node.as<stats_parameters>().tag; }

} // namespace

constinit const operator_record stats_record{
  .name = "stats",
  .arm = schema::Dataset::STATS,
  .encode = encode_stats,
  .decode = decode_stats,
  .open = open_over_input<stats_iterator>,
  .rows = {.one_to_one = true, .apart = true, .divides_as_input = true},
  .cardinality = cardinality_of_input,
  .pieces = {piece_rule::aligned},
  .shown = shown_stats,
};

} // namespace headrace::detail
