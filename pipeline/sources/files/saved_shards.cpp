#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/sources/memory/numbers.hpp"
#include "headrace/pipeline/sources/memory/source_rows.hpp"
#include "headrace/pipeline/storage/saved_manifest.hpp"

namespace headrace::detail {

namespace {

opened open_saved_shards(engine& shared, const dataset_ptr& node, const place& at) {
  auto found = read_saved(node->as<saved_shards_parameters>().folder);
  if (!found)
    return found.status().with_context(to_string(node->op));
  return open_numbers(shared, *node, at, found->shards.size(),
                      [](uint64_t row) { return static_cast<int64_t>(row); });
}

void encode_saved_shards(const dataset_node& node, node_writer& to) {
  to.out.initSavedShards().setFolder(text_of(node.as<saved_shards_parameters>().folder));
}

result<dataset_ptr> decode_saved_shards(node_reader& from) {
  return make_saved_shards(string_of(from.in.getSavedShards().getFolder()));
}

// The number of shards is determined when the source is opened.
std::optional<uint64_t> splits_of_shards(const dataset_node&) { return std::nullopt; }

std::string shown_saved_shards(const dataset_node& node) {
  return node.as<saved_shards_parameters>().folder;
}

} // namespace

constinit const operator_record saved_shards_record{
  .name = "saved_shards",
  .arm = schema::Dataset::SAVED_SHARDS,
  .encode = encode_saved_shards,
  .decode = decode_saved_shards,
  .open = open_saved_shards,
  .rows = source_rows,
  .source = {.files = file_use::others, .splits = splits_of_shards},
  .shown = shown_saved_shards,
};

} // namespace headrace::detail
