#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/iterator/counter_random.hpp"
#include "headrace/pipeline/sources/memory/numbers.hpp"

namespace headrace::detail {

namespace {

opened open_random(engine& shared, const dataset_ptr& node, const place& at) {
  auto key = shared.random_key(*node, at);
  if (node->as<random_parameters>().reseed)
    key = mix(mix(key, at.iteration), shared.context().repetition);
  return open_numbers(shared, *node, at, endless_rows,
                      [random = counter_random{key}](uint64_t row) mutable {
                        return static_cast<int64_t>(random.bits(row) >> 32);
                      });
}

void encode_random(const dataset_node& node, node_writer& to) {
  const auto& own = node.as<random_parameters>();
  auto out = to.out.initRandom();
  write(own.seed, out.initSeed());
  out.setReseed(own.reseed);
}

result<dataset_ptr> decode_random(node_reader& from) {
  const auto in = from.in.getRandom();
  return make_random(seed_of(in.getSeed()), in.getReseed());
}

} // namespace

constinit const operator_record random_record{
  .name = "random",
  .arm = schema::Dataset::RANDOM,
  .encode = encode_random,
  .decode = decode_random,
  .open = open_random,
  .rows = source_rows,
  .source = {.splits_are_rows = always, .splits = splits_of_rows},
  .draws_order = always,
};

} // namespace headrace::detail
