#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/operators/batches/batch_columns.hpp"
#include "headrace/pipeline/operators/batches/batch_iterator.hpp"

namespace headrace::detail {

namespace {

class plain_batch_iterator final : public batch_iterator {
public:
  using batch_iterator::batch_iterator;

private:
  block batched(const block& rows, size_t size) override { return batch_rows(rows, size); }
};

void encode_batch(const dataset_node& node, node_writer& to) {
  const auto& own = node.as<batch_parameters>();
  auto out = to.over_input(to.out.initBatch());
  out.setSize(own.rows.value_or(0));
  out.setDropRemainder(own.drop_remainder);
  to.computed(out);
}

result<dataset_ptr> decode_batch(node_reader& from) {
  const auto in = from.in.getBatch();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  HEADRACE_ASSIGN(const auto size, from.number(in.getSize(), in.getComputed()));
  return make_batch(std::move(rows), size, in.getDropRemainder());
}

int64_t rows_of_batch(const dataset_node& node) { return known_rows(node.as<batch_parameters>()); }
std::string shown_batch(const dataset_node& node) {
  return shown_number(node.as<batch_parameters>().rows);
}

dataset_ptr cardinality_of_batch(const dataset_ptr& x) {
  return number_of_batches(x, x->as<batch_parameters>());
}

} // namespace

constinit const operator_record batch_record{
  .name = "batch",
  .arm = schema::Dataset::BATCH,
  .encode = encode_batch,
  .decode = decode_batch,
  .open = open_batches<plain_batch_iterator>,
  .cardinality = cardinality_of_batch,
  .pieces = {piece_rule::together, taken_together, rows_of_batch},
  .shown = shown_batch,
};

} // namespace headrace::detail
