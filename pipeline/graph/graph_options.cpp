#include "headrace/pipeline/graph/graph_options.hpp"

namespace headrace::detail {

namespace {

template <class T>
void fill(std::optional<T>& to, const std::optional<T>& from) {
  if (!to)
    to = from;
}

void merge(graph_options& out, const dataset_node& node) {
  if (const auto* own = node.find<graph_options>()) {
    fill(out.deterministic, own->deterministic);
    fill(out.autotune, own->autotune);
    fill(out.threads, own->threads);
    fill(out.memory, own->memory);
    fill(out.compression, own->compression);
    fill(out.seed, own->seed);
  }
  if (node.op == dataset_op::distribute)
    return; // the input is a graph that workers run, with its own options
  for (const auto& input : node.inputs) merge(out, *input);
}

} // namespace

graph_options options_of(const dataset_node& graph) {
  graph_options out;
  merge(out, graph);
  return out;
}

} // namespace headrace::detail
