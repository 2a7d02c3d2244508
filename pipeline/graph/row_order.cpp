#include "headrace/pipeline/graph/row_order.hpp"

namespace headrace {

bool may_spread(const dataset_node& map, const graph_options& options, bool in_function) {
  // A named function may keep state: who calls it without parallel calls has it called in turn.
  return map.op == dataset_op::map && map.calls.count == 0 && map.body && map.body->named.empty()
         && !in_function && options.autotune.value_or(true) && options.threads.value_or(2) > 1;
}

bool may_reorder(const dataset_node& node, const graph_options& options, bool in_function) {
  if (node.calls.deterministic.value_or(options.deterministic.value_or(true)))
    return false;
  return node.calls.count != 0 || may_spread(node, options, in_function);
}

} // namespace headrace
