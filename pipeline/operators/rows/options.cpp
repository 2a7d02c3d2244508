#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"

namespace headrace::detail {

namespace {

/// Returns the iterator of the input: the options were read from the graph before any iterator was
/// made.
opened open_options(engine& shared, const dataset_ptr& node, const place& at) {
  return shared.make_input(node, at);
}

void encode_options(const dataset_node& node, node_writer& to) {
  const auto& own = node.as<graph_options>();
  auto out = to.over_input(to.out.initOptions()).initOptions();
  out.setDeterministic(to_schema(own.deterministic));
  out.setAutotune(to_schema(own.autotune));
  out.setThreads(own.threads.value_or(0));
  out.setMemory(own.memory.value_or(0));
  if (own.compression)
    out.getCompression().setValue(to_schema(*own.compression));
  else
    out.getCompression().setUnset();
  write(own.seed, out.initSeed());
}

result<graph_options> decode_graph_options(schema::Options::Reader in) {
  graph_options out;
  HEADRACE_ASSIGN(out.deterministic, from_schema(in.getDeterministic()));
  HEADRACE_ASSIGN(out.autotune, from_schema(in.getAutotune()));
  if (in.getThreads() != 0)
    out.threads = in.getThreads();
  if (in.getMemory() != 0)
    out.memory = in.getMemory();
  out.seed = seed_of(in.getSeed());
  const auto packing = in.getCompression();
  switch (packing.which()) {
  case schema::Options::Compression::UNSET: return out;
  case schema::Options::Compression::VALUE: {
    HEADRACE_ASSIGN(out.compression, from_schema(packing.getValue()));
    return out;
  }
  }
  return unknown_value("choice of a compression", static_cast<uint16_t>(packing.which()));
}

result<dataset_ptr> decode_options(node_reader& from) {
  const auto in = from.in.getOptions();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  HEADRACE_ASSIGN(auto options,
                  in_operator(dataset_op::options, decode_graph_options(in.getOptions())));
  return make_options(std::move(rows), std::move(options));
}

} // namespace

constinit const operator_record options_record{
  .name = "options",
  .arm = schema::Dataset::OPTIONS,
  .encode = encode_options,
  .decode = decode_options,
  .open = open_options,
  .rows = {.one_to_one = true, .apart = true, .divides_as_input = true, .untouched = true},
  .cardinality = cardinality_of_input,
  .pieces = {piece_rule::aligned},
};

} // namespace headrace::detail
