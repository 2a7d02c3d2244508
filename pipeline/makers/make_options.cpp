#include "headrace/pipeline/graph/operator_record.hpp"
#include "headrace/pipeline/makers/node_checks.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

bool reads_in_any_order(const dataset_node& source) {
  return record_of(source).source.open_any_order != nullptr
         && compression_of_files(source) == file_compression::none;
}

} // namespace

status check_gives_tensors(const dataset_node& graph) {
  if (!has_datasets(graph.spec))
    return {};
  return invalid_argument(
    fmt::format("the elements of this dataset are {}; datasets as elements exist inside of a graph "
                "only: take them apart with flat_map or interleave, for example to batch them",
                to_string(graph.spec)));
}

result<dataset_ptr> make_options(dataset_ptr input, graph_options options) {
  constexpr auto op = dataset_op::options;
  HEADRACE_TRY(check_input(op, input));
  if (options.threads)
    HEADRACE_TRY(check_count(op, "threads", *options.threads));
  if (options.memory)
    HEADRACE_TRY(check_count(op, "memory", *options.memory));
  auto node = node_of(op, {input});
  node.spec = input->spec;
  node.cardinality = input->cardinality;
  node.parameters = std::move(options);
  return finish(std::move(node));
}

result<dataset_ptr> make_global_shuffle(dataset_ptr source, std::optional<uint64_t> seed,
                                        bool reshuffle_each_iteration) {
  constexpr auto op = dataset_op::global_shuffle;
  HEADRACE_TRY(check_input(op, source));
  if (!reads_in_any_order(*source))
    return refused(
      op, fmt::format("the rows of {}{} cannot be read in any order; put it right after a range, "
                      "from_tensors, from_tensor_slices, or uncompressed tfrecord or fixed_length",
                      compression_of_files(*source) == file_compression::none ? "" : "compressed ",
                      to_string(source->op)));
  auto node = node_of(op, {source});
  node.spec = source->spec;
  node.cardinality = source->cardinality;
  node.parameters = global_shuffle_parameters{seed, reshuffle_each_iteration};
  return finish(std::move(node));
}

} // namespace headrace::detail
