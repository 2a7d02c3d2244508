#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/sources/memory/numbers.hpp"

namespace headrace::detail {

namespace {

opened open_counter(engine& shared, const dataset_ptr& node, const place& at) {
  const auto start = static_cast<uint64_t>(node->as<counter_parameters>().start);
  const auto step =
    static_cast<uint64_t>(node->as<counter_parameters>().step); // unsigned: sums wrap
  return open_numbers(shared, *node, at, endless_rows,
                      [=](uint64_t row) { return static_cast<int64_t>(start + row * step); });
}

void encode_counter(const dataset_node& node, node_writer& to) {
  const auto& own = node.as<counter_parameters>();
  auto out = to.out.initCounter();
  out.setStart(own.start);
  out.setStep(own.step);
}

result<dataset_ptr> decode_counter(node_reader& from) {
  const auto in = from.in.getCounter();
  return make_counter(in.getStart(), in.getStep());
}

} // namespace

constinit const operator_record counter_record{
  .name = "counter",
  .arm = schema::Dataset::COUNTER,
  .encode = encode_counter,
  .decode = decode_counter,
  .open = open_counter,
  .rows = source_rows,
  .source = {.splits_are_rows = always, .splits = splits_of_rows},
};

} // namespace headrace::detail
