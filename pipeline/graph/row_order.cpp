#include "headrace/pipeline/graph/row_order.hpp"

#include "headrace/pipeline/graph/graph_options.hpp"
#include "headrace/pipeline/graph/operator_record.hpp"

#include <algorithm>
#include <unordered_set>

namespace headrace::detail {

namespace {

bool draws_order(const dataset_node& x) {
  const auto draws = record_of(x).draws_order;
  return draws != nullptr && !given_seed(x) && draws(x);
}

void look(const dataset_node& x, const graph_options& options, order_facts& out,
          std::unordered_set<const dataset_node*>& seen) {
  if (!seen.insert(&x).second)
    return;
  if (out.drawn.empty() && draws_order(x))
    out.drawn = to_string(x.op);
  if (out.reorders.empty() && may_reorder(x, options))
    out.reorders = to_string(x.op);
  if (x.op == dataset_op::distribute) {
    out.service = true;
    return;
  }
  for (const auto& input : x.inputs) look(*input, options, out, seen);
  if (x.body && x.body->dataset)
    look(*x.body->dataset, options, out, seen);
}

} // namespace

bool may_spread(const dataset_node& map, const graph_options& options, bool in_function) {
  // A map with a named function is excluded. Such a function may keep state, so its calls must not
  // overlap unless the graph sets parallel calls.
  return map.op == dataset_op::map && map.calls.count == 0 && map.body && map.body->named.empty()
         && !in_function && options.autotune.value_or(true) && options.threads.value_or(2) > 1;
}

bool may_reorder(const dataset_node& node, const graph_options& options) {
  return node.calls.count != 0
         && !node.calls.deterministic.value_or(options.deterministic.value_or(true));
}

bool reorders(const dataset_node& part, const graph_options& options) {
  order_facts facts;
  std::unordered_set<const dataset_node*> seen;
  look(part, options, facts, seen);
  return !facts.reorders.empty();
}

order_facts order_of(const dataset_node& graph) {
  order_facts out;
  std::unordered_set<const dataset_node*> seen;
  look(graph, options_of(graph), out, seen);
  return out;
}

bool reads_shared_job(const dataset_node& graph) {
  if (const auto* service = graph.find<service_options>())
    return !service->job_name.empty();
  return !graph.inputs.empty() && std::ranges::all_of(graph.inputs, [](const auto& input) {
    return reads_shared_job(*input);
  });
}

} // namespace headrace::detail
