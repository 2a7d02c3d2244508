#include "headrace/pipeline/functions/representation/expression_makers.hpp"

#include "headrace/pipeline/functions/representation/library.hpp"

#include <fmt/format.h>

namespace headrace::detail {

std::string_view to_string(expr_op op) noexcept {
  if (op == expr_op::parameter)
    return "parameter";
  if (op == expr_op::constant)
    return "constant";
  const auto* function = find_library_function(op);
  return function != nullptr ? function->name : "unknown function";
}

tensor_spec spec_of(const feature_spec& feature) {
  const auto unknown = shape::unknown;
  if (feature.size > 0)
    return {feature.type, {feature.size}};
  if (!feature.index_name.empty() || (feature.variable && feature.in_lists))
    return {feature.type, {unknown, unknown}};
  if (feature.variable)
    return {feature.type, {unknown}};
  return {feature.type, feature.sequence ? feature.dims.with_leading(unknown) : feature.dims};
}

result<expr_ptr> make_expr(expr_op op, std::vector<expr_ptr> inputs, expr_attrs attrs, dtype type,
                           std::string_view function) {
  const auto named = function.empty() ? to_string(op) : function;
  for (const auto& input : inputs)
    if (!input)
      return invalid_argument(fmt::format("{}: an operand is missing", named));
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i]->spec.is_dataset())
      return invalid_argument(fmt::format("{}: operand {} is a {}; functions compute with tensors, "
                                          "which batch in a flat_map makes of "
                                          "a dataset's elements",
                                          named, i, to_string(inputs[i]->spec)));
  auto spec = infer(op, inputs, attrs, type);
  if (!spec)
    return spec.status().with_context(named);
  expr_node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  node.spec = *std::move(spec);
  if (const auto* library = find_library_function(op); library && library->prepare) {
    auto prepared = library->prepare(node);
    if (!prepared)
      return prepared.status().with_context(named);
    node.prepared = *std::move(prepared);
  }
  return expr_ptr{std::make_shared<const expr_node>(std::move(node))};
}

expr_ptr make_parameter(std::shared_ptr<const function_scope> scope, int64_t index,
                        tensor_spec spec) {
  expr_node node;
  node.op = expr_op::parameter;
  node.attrs.index = index;
  node.spec = std::move(spec);
  node.scope = std::move(scope);
  return std::make_shared<const expr_node>(std::move(node));
}

result<expr_ptr> make_constant(column value) {
  if (value.rows() != 1)
    return invalid_argument(
      fmt::format("constant: the value has {} rows; one is needed", value.rows()));
  auto dims = value.shape_of(0);
  if (const auto how = check_bounded(dims); !how.ok())
    return how.with_context("constant");
  if (!value.is_dense())
    value = value.is_string() ? column::strings(dims, 1, value.border_buffer(),
                                                value.value_buffer(), value.byte_base())
                              : column::dense(value.type(), dims, 1, value.value_buffer());
  expr_node node;
  node.op = expr_op::constant;
  node.spec = {value.type(), std::move(dims)};
  node.attrs.value = std::move(value);
  return expr_ptr{std::make_shared<const expr_node>(std::move(node))};
}

} // namespace headrace::detail
