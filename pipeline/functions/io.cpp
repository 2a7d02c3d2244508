#include "headrace/pipeline/functions/io.hpp"

#include "headrace/pipeline/functions/literal.hpp"

#include <fmt/format.h>

namespace headrace::io {

using detail::apply;

expr decode_raw(const expr& bytes, dtype type, bool little_endian) {
  expr_attrs attrs;
  attrs.flag = little_endian;
  return apply(expr_op::decode_raw, {bytes.node()}, std::move(attrs), type);
}

feature_spec fixed_len_feature(std::string name, shape dims, dtype type) {
  return {.name = std::move(name), .type = type, .dims = std::move(dims)};
}

feature_spec fixed_len_feature(std::string name, shape dims, dtype type,
                               const expr& default_value) {
  auto node = default_value.is_literal()
                ? detail::adapt_literal("parse_example", default_value, type).value()
                : default_value.node();
  if (node->op != expr_op::constant)
    throw error{invalid_argument(
      fmt::format("parse_example: the default of feature '{}' must be a constant", name))};
  auto value = node->attrs.value;
  if (value.row_shape().is_scalar() && !dims.is_scalar() && dims.is_static()) {
    // Repeats the scalar; strings and numbers alike.
    const auto n = static_cast<size_t>(*dims.elements());
    if (value.is_string())
      value = column::of_strings(std::vector<std::string_view>(n, value.string(0)));
    else {
      buffer_builder bytes;
      for (size_t i = 0; i < n; ++i)
        bytes.append(value.value_buffer().data(), size_of(value.type()));
      value = column::dense(value.type(), {}, n, bytes.finish());
    }
    value = value.reshaped(dims, 1);
  }
  return {.name = std::move(name),
          .type = type,
          .dims = std::move(dims),
          .has_default = true,
          .default_value = std::move(value)};
}

feature_spec var_len_feature(std::string name, dtype type) {
  return {.name = std::move(name), .type = type, .variable = true};
}

expr_structure parse_example(const expr& serialized, std::vector<feature_spec> features) {
  std::vector<std::pair<std::string, expr_structure>> fields;
  for (size_t i = 0; i < features.size(); ++i) {
    expr_attrs attrs;
    attrs.index = static_cast<int64_t>(i);
    attrs.features = features;
    fields.emplace_back(features[i].name,
                        apply(expr_op::parse_example, {serialized.node()}, std::move(attrs)));
  }
  if (fields.empty())
    throw error{invalid_argument("parse_example: no features asked for; name at least one")};
  return expr_structure::named(fields);
}

} // namespace headrace::io
