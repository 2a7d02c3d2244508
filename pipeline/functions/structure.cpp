#include "headrace/pipeline/functions/structure.hpp"

#include <fmt/format.h>

namespace headrace {

namespace {

void append_part(const expr_structure& part, std::vector<structure>& layouts,
                 std::vector<expr>& leaves) {
  layouts.push_back(part.layout());
  leaves.insert(leaves.end(), part.leaves().begin(), part.leaves().end());
}

} // namespace

expr_structure expr_structure::tuple(const std::vector<expr_structure>& parts) {
  std::vector<structure> layouts;
  std::vector<expr> leaves;
  for (const auto& part : parts) append_part(part, layouts, leaves);
  return {structure::tuple(std::move(layouts)), std::move(leaves)};
}

expr_structure
expr_structure::named(const std::vector<std::pair<std::string, expr_structure>>& fields) {
  std::vector<std::string> names;
  std::vector<structure> layouts;
  std::vector<expr> leaves;
  for (const auto& [name, part] : fields) {
    for (const auto& other : names)
      if (other == name)
        throw error{invalid_argument(fmt::format("named: two fields are called '{}'", name))};
    names.push_back(name);
    append_part(part, layouts, leaves);
  }
  return {structure::named(std::move(names), std::move(layouts)), std::move(leaves)};
}

expr_structure expr_structure::child(std::string_view name) const {
  const auto at = layout_.find(name);
  if (at < 0)
    throw error{
      invalid_argument(fmt::format("no field '{}' in {}", name, headrace::to_string(spec())))};
  return part(static_cast<size_t>(at));
}

expr_structure expr_structure::child(size_t index) const {
  if (is_one() && index == 0)
    return *this;
  if (index >= size())
    throw error{
      invalid_argument(fmt::format("no part {} in {}", index, headrace::to_string(spec())))};
  return part(index);
}

expr_structure expr_structure::part(size_t index) const {
  const auto& part = layout_.children()[index];
  const auto first = leaves_.begin() + static_cast<std::ptrdiff_t>(layout_.first_leaf(index));
  return {part, {first, first + static_cast<std::ptrdiff_t>(part.leaves())}};
}

const expr& expr_structure::single() const {
  if (!layout_.is_leaf())
    throw error{invalid_argument(
      fmt::format("a single tensor is needed here, not {}", headrace::to_string(spec())))};
  return leaves_.front();
}

element_spec expr_structure::spec() const {
  std::vector<tensor_spec> specs;
  for (const auto& leaf : leaves_) specs.push_back(leaf.spec());
  return {layout_, std::move(specs)};
}

} // namespace headrace
