#include "headrace/pipeline/functions/representation/costly_rows.hpp"

#include "headrace/pipeline/functions/representation/expression_makers.hpp"
#include "headrace/pipeline/graph/operator_record.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <unordered_set>

namespace headrace::detail {

namespace {

/// The library functions that usually cost more than all other parts of a traced function, the
/// costliest first.
constexpr std::array costly{expr_op::decode_image,  expr_op::encode_image,
                            expr_op::resize_image,  expr_op::read_file,
                            expr_op::while_loop,    expr_op::parse_sequence_example,
                            expr_op::parse_example, expr_op::decode_csv,
                            expr_op::parse_tensor,  expr_op::matmul};
/// The first `images` functions in `costly` take far longer for any row than waking a thread takes.
constexpr size_t images = 2;

/// The place in `costly` of the costliest function of `f`; nullopt if `f` has none of these
/// functions.
std::optional<size_t> costliest(const function& f) {
  std::optional<size_t> out;
  std::unordered_set<const expr_node*> seen;
  std::vector<const expr_node*> open;
  for (const auto& tensor : f.tensors) open.push_back(tensor.get());
  while (!open.empty()) {
    const auto* node = open.back();
    open.pop_back();
    if (!seen.insert(node).second)
      continue;
    if (const auto* at = std::ranges::find(costly, node->op); at != costly.end()) {
      const auto place = static_cast<size_t>(at - costly.begin());
      out = std::min(out.value_or(place), place);
    }
    for (const auto& input : node->inputs) open.push_back(input.get());
  }
  return out;
}

} // namespace

bool has_costly_rows(const function& f) { return costliest(f).value_or(images) < images; }

std::string shown_by_cost(const dataset_node& node) {
  const auto called = shown_function(node);
  const auto part = node.body && node.body->named.empty() ? costliest(*node.body) : std::nullopt;
  if (!part)
    return called;
  auto name = to_string(costly[*part]);
  name.remove_prefix(name.rfind('.') + 1); // the whole name remains if it has no dot
  return called.empty() ? std::string{name} : fmt::format("{}, {}", name, called);
}

} // namespace headrace::detail
