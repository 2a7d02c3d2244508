#include "headrace/pipeline/functions/representation/costly_rows.hpp"

#include <unordered_set>

namespace headrace {

bool has_costly_rows(const function& f) {
  std::unordered_set<const expr_node*> seen;
  std::vector<const expr_node*> open;
  for (const auto& tensor : f.tensors) open.push_back(tensor.get());
  while (!open.empty()) {
    const auto* node = open.back();
    open.pop_back();
    if (!seen.insert(node).second)
      continue;
    if (node->op == expr_op::decode_image || node->op == expr_op::encode_image)
      return true;
    for (const auto& input : node->inputs) open.push_back(input.get());
  }
  return false;
}

} // namespace headrace
