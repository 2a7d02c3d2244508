#include "benchmarks/kernel_cases.hpp"

#include <headrace/pipeline/iterator/iterator.hpp>
#include <headrace/pipeline/iterator/op_counters.hpp>

#include <map>

namespace headrace::detail::bench {

namespace {

constexpr uint64_t most_rows = 20'000; // the most rows that are read: some datasets have no end

/// Adds to `to` the nodes of the datasets that functions in the graph return. `inside`: `node` is
/// itself a node of such a dataset.
void find_inner(const dataset_node& node, bool inside,
                std::map<const dataset_node*, op_counters>& to) {
  if (inside && !to.try_emplace(&node).second)
    return;
  if (node.body && node.body->dataset)
    find_inner(*node.body->dataset, true, to);
  for (const auto& input : node.inputs) find_inner(*input, inside, to);
}

const dataset_node& find(const dataset_node& from, dataset_op op) {
  const auto* at = &from;
  while (at->op != op) at = at->inputs.at(0).get();
  return *at;
}

} // namespace

kernel_counts count_kernel_calls(const kernel_case& of, size_t block_rows) {
  const auto what = of.make();
  const auto& node = of.below ? find(*what.node(), *of.below) : *what.node();
  op_counters own, input;
  std::map<const dataset_node*, op_counters> inner;
  find_inner(*what.node(), false, inner);
  iterator_context context;
  context.find_function = [](const function_reference&) -> named_function {
    return [](const block& rows) -> result<block> { return rows; };
  };
  context.counters = [&](const dataset_node& x) -> op_counters* {
    if (&x == &node)
      return &own;
    if (const auto found = inner.find(&x); found != inner.end())
      return &found->second;
    return !node.inputs.empty() && &x == node.inputs[0].get() ? &input : nullptr;
  };
  {
    auto it = make_iterator(what.node(), context).value();
    uint64_t rows = 0;
    while (rows < most_rows) {
      const auto b = it->next({.rows = block_rows, .bytes = SIZE_MAX});
      if (!b)
        break;
      if (!b->errors.empty())
        throw error{b->errors.front().why};
      rows += b->rows;
    }
  }
  kernel_counts out{.rows = own.rows, .calls = own.kernel_calls, .ops = {node.op}};
  const uint64_t blocks = of.below ? own.blocks.load() : (own.rows + block_rows - 1) / block_rows;
  out.limit = of.columns * blocks + of.arguments * input.blocks + of.beside;
  for (const auto& [which, counted] : inner) {
    out.ops.insert(which->op);
    out.inner_calls += counted.kernel_calls;
    out.inner_limit += counted.blocks * which->spec.components.size();
  }
  return out;
}

} // namespace headrace::detail::bench
