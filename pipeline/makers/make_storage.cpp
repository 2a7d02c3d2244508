#include "headrace/pipeline/makers/node_checks.hpp"
#include "headrace/pipeline/storage/memory_cache.hpp"
#include "headrace/pipeline/storage/saved_manifest.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

const element_spec number_spec{tensor_spec{dtype::int64, {}}};

/// A node of an operator that returns the elements of its input.
dataset_node same_elements(dataset_op op, const dataset_ptr& input) {
  auto node = node_of(op, {input});
  node.spec = input->spec;
  node.cardinality = input->cardinality;
  return node;
}

status check_folder(dataset_op op, const std::string& folder) {
  if (folder.empty())
    return refused(op, "path is empty; it must name a folder");
  if (folder.find('\0') != std::string::npos)
    return refused(op, "path has a zero byte; no folder has such a name");
  return {};
}

} // namespace

result<dataset_ptr> make_load(std::string folder, element_spec spec, int64_t blocks,
                              int64_t cardinality, expr_ptr shard) {
  constexpr auto op = dataset_op::load;
  HEADRACE_TRY(check_folder(op, folder));
  // The number of blocks of one shard may be -1: it is then determined when the shard is read.
  if (shard ? blocks < -1 : blocks < 0 || cardinality < blocks)
    return refused(op, fmt::format("{} elements in {} blocks", cardinality, blocks));
  if (shard && shard->spec != number_spec.components[0])
    return refused(op,
                   fmt::format("shard is {}; it must be an int64 scalar", to_string(shard->spec)));
  if (has_datasets(spec))
    return refused(op,
                   fmt::format("the elements are {}; only tensors can be loaded", to_string(spec)));
  auto node = node_of(op);
  node.parameters = load_parameters{std::move(folder), blocks};
  node.spec = std::move(spec);
  node.cardinality = cardinality;
  if (shard) {
    node.tensors = {std::move(shard)};
    node.cardinality = unknown_cardinality;
  }
  return finish(std::move(node));
}

result<dataset_ptr> make_load_piece(std::string folder, element_spec spec, expr_ptr piece,
                                    int64_t wait_ns) {
  constexpr auto op = dataset_op::load;
  if (!piece || wait_ns < 1)
    return refused(op, "a piece needs a number, and a time to wait for it of 1 ns or more");
  HEADRACE_ASSIGN(const auto shard,
                  make_load(std::move(folder), std::move(spec), 0, 0, std::move(piece)));
  auto node = *shard;
  node.as<load_parameters>().piece_wait_ns = wait_ns;
  return finish(std::move(node));
}

result<dataset_ptr> make_cache(dataset_ptr input, std::string folder, int64_t most_bytes) {
  constexpr auto op = dataset_op::cache;
  HEADRACE_TRY(check_tensors(op, input));
  if (!folder.empty())
    HEADRACE_TRY(check_folder(op, folder));
  if (most_bytes < 0)
    return refused(op, fmt::format("most_bytes is {}; it must be 0 (any) or more", most_bytes));
  if (most_bytes != 0 && !folder.empty())
    return refused(op, "most_bytes is for a cache in memory, not for one in a folder");
  if (input->cardinality == infinite_cardinality)
    return refused(op, "the input never ends, so that its elements are never all there; take(n) "
                       "of it first");
  auto node = same_elements(op, input);
  auto memory = folder.empty() ? std::make_shared<memory_cache>() : nullptr;
  node.parameters = cache_parameters{std::move(folder), most_bytes, std::move(memory)};
  return finish(std::move(node));
}

result<dataset_ptr> make_snapshot(dataset_ptr input, std::string folder,
                                  saved_compression compression, function_ptr shard,
                                  dataset_ptr reader) {
  constexpr auto op = dataset_op::snapshot;
  HEADRACE_TRY(check_tensors(op, input));
  HEADRACE_TRY(check_folder(op, folder));
  if (input->cardinality == infinite_cardinality)
    return refused(op, "the input never ends, so that its elements are never all there; take(n) "
                       "of it first");
  auto node = same_elements(op, input);
  if (shard) {
    if (shard->dataset || shard->result() != number_spec)
      return refused(op, "shard_func must give one int64 scalar, the number of a shard");
    if (!shard->argument.accepts(input->spec))
      return refused(op, fmt::format("shard_func takes {}, but the input gives {}",
                                     to_string(shard->argument), to_string(input->spec)));
    node.body = std::move(shard);
  }
  if (reader) {
    if (!join_spec(node.spec, reader->spec))
      return refused(op, fmt::format("reader_func gives {}, but the elements that are kept are {}; "
                                     "change them behind the snapshot",
                                     to_string(reader->spec), to_string(input->spec)));
    node.inputs.push_back(std::move(reader));
    // The reader may leave elements out, or return them several times.
    node.cardinality = unknown_cardinality;
  }
  node.parameters = snapshot_parameters{std::move(folder), compression};
  return finish(std::move(node));
}

result<dataset_ptr> make_saved_shards(std::string folder) {
  HEADRACE_TRY(check_folder(dataset_op::saved_shards, folder));
  auto node = node_of(dataset_op::saved_shards);
  node.parameters = saved_shards_parameters{std::move(folder)};
  node.spec = number_spec;
  return finish(std::move(node));
}

} // namespace headrace::detail
