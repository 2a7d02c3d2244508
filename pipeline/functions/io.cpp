#include "headrace/pipeline/functions/io.hpp"

#include "headrace/pipeline/functions/literal.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::io {
using namespace detail;

using detail::apply;

expr decode_raw(const expr& bytes, dtype type, bool little_endian) {
  expr_attrs attrs;
  attrs.flag = little_endian;
  return apply(expr_op::decode_raw, {bytes.node()}, std::move(attrs), type);
}

expr serialize_tensor(const expr& tensor) {
  return apply(expr_op::serialize_tensor, {tensor.node()});
}

expr parse_tensor(const expr& serialized, dtype type) {
  return apply(expr_op::parse_tensor, {serialized.node()}, {}, type);
}

feature_spec fixed_len_feature(std::string name, shape dims, dtype type) {
  return {.name = std::move(name), .type = type, .dims = std::move(dims)};
}

namespace {

/// The value of `default_value`, a constant that replaces missing values of the feature `name`. A
/// literal is converted to `type`.
column constant_for(const std::string& name, dtype type, const expr& default_value) {
  auto node = default_value.is_literal()
                ? detail::adapt_literal("parse_example", default_value, type).value()
                : default_value.node();
  if (node->op != expr_op::constant)
    throw error{invalid_argument(
      fmt::format("parse_example: the default of feature '{}' must be a constant", name))};
  return node->attrs.value;
}

feature_spec with_filler(feature_spec feature, const expr& filler) {
  feature.default_value = constant_for(feature.name, feature.type, filler);
  feature.has_default = true;
  return feature;
}

/// A named structure with the results for the features `[first, first + count)` of one call of
/// `op`. The fields have the names of the features.
expr_structure components(expr_op op, const expr& serialized,
                          const std::vector<feature_spec>& features, size_t first, size_t count) {
  std::vector<std::pair<std::string, expr_structure>> fields;
  for (auto i = first; i < first + count; ++i) {
    expr_attrs attrs;
    attrs.index = static_cast<int64_t>(i);
    attrs.features = features;
    fields.emplace_back(features[i].name, apply(op, {serialized.node()}, std::move(attrs)));
  }
  return expr_structure::named(fields);
}

} // namespace

feature_spec fixed_len_feature(std::string name, shape dims, dtype type,
                               const expr& default_value) {
  auto value = constant_for(name, type, default_value);
  if (value.row_shape().is_scalar() && !dims.is_scalar() && dims.is_static()) {
    // The scalar, a string or a number, becomes each value of the default.
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

feature_spec fixed_len_sequence_feature(std::string name, shape dims, dtype type) {
  return {.name = std::move(name), .type = type, .dims = std::move(dims), .sequence = true};
}

feature_spec fixed_len_sequence_feature(std::string name, shape dims, dtype type,
                                        const expr& filler) {
  return with_filler(fixed_len_sequence_feature(std::move(name), std::move(dims), type), filler);
}

feature_spec ragged_feature(std::string name, std::string lengths_name, dtype type) {
  return {.name = std::move(name), .type = type, .index_name = std::move(lengths_name)};
}
feature_spec ragged_feature(std::string name, std::string lengths_name, dtype type,
                            const expr& filler) {
  return with_filler(ragged_feature(std::move(name), std::move(lengths_name), type), filler);
}

feature_spec sparse_feature(std::string name, std::string index_name, dtype type, int64_t size) {
  if (size < 1)
    throw error{invalid_argument(
      fmt::format("parse_example: feature '{}' has {} places; at least 1 is needed", name, size))};
  return {.name = std::move(name), .type = type, .index_name = std::move(index_name), .size = size};
}
feature_spec sparse_feature(std::string name, std::string index_name, dtype type, int64_t size,
                            const expr& filler) {
  return with_filler(sparse_feature(std::move(name), std::move(index_name), type, size), filler);
}

expr_structure parse_example(const expr& serialized, std::vector<feature_spec> features) {
  if (features.empty())
    throw error{invalid_argument("parse_example: no features asked for; name at least one")};
  return components(expr_op::parse_example, serialized, features, 0, features.size());
}

std::vector<expr> decode_csv(const expr& lines, const std::vector<csv_field>& fields,
                             const csv_format& format) {
  expr_attrs attrs;
  attrs.text = format.delimiter;
  attrs.flag = format.quotes;
  attrs.texts = {format.na_value};
  attrs.dims = format.select;
  for (const auto& field : fields) {
    feature_spec one{.name = std::to_string(attrs.features.size()), .type = field.type};
    attrs.features.push_back(field.missing ? with_filler(std::move(one), *field.missing)
                                           : std::move(one));
  }
  std::vector<expr> out;
  for (size_t i = 0; i < std::max<size_t>(1, fields.size()); ++i) {
    attrs.index = static_cast<int64_t>(i);
    out.push_back(apply(expr_op::decode_csv, {lines.node()}, attrs));
  }
  return out;
}

expr read_file(const expr& names) { return apply(expr_op::read_file, {names.node()}); }

std::pair<expr_structure, expr_structure>
parse_sequence_example(const expr& serialized, std::vector<feature_spec> context_features,
                       std::vector<feature_spec> sequence_features) {
  auto all = std::move(context_features);
  const auto context = all.size();
  for (auto& feature : sequence_features) {
    feature.in_lists = true;
    all.push_back(std::move(feature));
  }
  if (all.empty())
    throw error{
      invalid_argument("parse_sequence_example: no features asked for; name at least one")};
  constexpr auto op = expr_op::parse_sequence_example;
  return {components(op, serialized, all, 0, context),
          components(op, serialized, all, context, all.size() - context)};
}

} // namespace headrace::io
