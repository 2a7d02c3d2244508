#include "headrace/pipeline/graph/row_seeds.hpp"

#include <unordered_set>

namespace headrace::detail {

namespace {

/// Calls `see` with each node of `f` that uses the seed of a row, until a call returns true.
/// Returns true if a call returned true.
template <class See>
bool any_row_seed(const function& f, See see) {
  std::unordered_set<const expr_node*> seen;
  std::vector<const expr_node*> open;
  for (const auto& tensor : f.tensors) open.push_back(tensor.get());
  while (!open.empty()) {
    const auto* node = open.back();
    open.pop_back();
    if (!seen.insert(node).second)
      continue;
    if (node->op == expr_op::row_seed && see(*node))
      return true;
    for (const auto& input : node->inputs) open.push_back(input.get());
  }
  return false;
}

} // namespace

bool wants_row_seeds(const function& f) {
  return any_row_seed(f, [](const expr_node&) { return true; });
}

bool has_fixed_row_seeds(const function& f) {
  return wants_row_seeds(f) && !any_row_seed(f, [](const expr_node& x) { return !x.attrs.flag; });
}

} // namespace headrace::detail
