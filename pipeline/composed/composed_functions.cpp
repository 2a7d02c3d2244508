#include "headrace/pipeline/composed/composed_functions.hpp"

#include <fmt/format.h>

namespace headrace::detail {

result<expr> integer_of(std::string_view op, std::string_view name, const function& f) {
  const auto gives = f.result();
  if (!gives.layout.is_leaf() || !is_integer(gives.components[0].type)
      || !gives.components[0].dims.is_scalar() || gives.components[0].is_dataset())
    return invalid_argument(
      fmt::format("{}: {} gives {}; it must give one integer scalar", op, name, to_string(gives)));
  return cast<int64_t>(expr{f.tensors[0]});
}

function_ptr with_element(const function& f, const std::vector<expr>& first) {
  auto out = std::make_shared<function>();
  out->scope = f.scope;
  out->argument = f.argument;
  std::vector<structure> layouts(first.size());
  layouts.push_back(f.argument.layout);
  out->layout = structure::tuple(std::move(layouts));
  for (const auto& x : first) out->tensors.push_back(x.node());
  for (size_t i = 0; i < f.argument.components.size(); ++i)
    out->tensors.push_back(
      make_parameter(f.scope, static_cast<int64_t>(i), f.argument.components[i]));
  return out;
}

} // namespace headrace::detail
