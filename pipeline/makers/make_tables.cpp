#include "headrace/pipeline/makers/node_checks.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>

namespace headrace::detail {

namespace {

constexpr int64_t most_record_bytes = int64_t{1} << 31;

// The name of field `i` in error messages.
std::string name_of(const field_format& f, size_t i, const char* kind) {
  return f.name.empty() ? fmt::format("{} {}", kind, i) : fmt::format("{} '{}'", kind, f.name);
}

bool fits(const column& value, const tensor_spec& spec) {
  return value.rows() == 1 && value.type() == spec.type && spec.dims.accepts(value.shape_of(0));
}

// Ok if either all fields have names, which must differ, or no field has a name. No field may have
// a complex dtype, and a value that replaces missing ones must have the spec of its field.
status check_fields(dataset_op op, const std::vector<field_format>& fields, const char* kind) {
  if (fields.empty())
    return refused(op, fmt::format("there are no {}s; give at least one", kind));
  std::unordered_set<std::string_view> names;
  for (size_t i = 0; i < fields.size(); ++i) {
    const auto& f = fields[i];
    if (f.name.empty() != fields[0].name.empty())
      return refused(
        op, fmt::format("some {}s have names and {} has none; name all or none", kind,
                        name_of(f.name.empty() ? f : fields[0], f.name.empty() ? i : 0, kind)));
    if (!f.name.empty() && !names.insert(f.name).second)
      return refused(op, fmt::format("two {}s are named '{}'", kind, f.name));
    if (is_complex(f.spec.type))
      return refused(op, fmt::format("{} is {}; it must be a real number, a bool or a string",
                                     name_of(f, i, kind), to_string(f.spec)));
    if (f.missing && !fits(*f.missing, f.spec))
      return refused(
        op, fmt::format("{} is {}, but {} stands in for a missing one", name_of(f, i, kind),
                        to_string(f.spec),
                        to_string(tensor_spec{f.missing->type(), f.missing->shape_of(0)})));
  }
  return {};
}

status check_scalars(dataset_op op, const std::vector<field_format>& fields, const char* kind) {
  for (size_t i = 0; i < fields.size(); ++i)
    if (!fields[i].spec.dims.is_scalar())
      return refused(op, fmt::format("{} is {}; it must be a scalar", name_of(fields[i], i, kind),
                                     to_string(fields[i].spec)));
  return {};
}

status check_string(dataset_op op, const expr_ptr& x, std::string_view name) {
  HEADRACE_TRY(check_expr(op, x, name));
  if (x->spec != tensor_spec{dtype::string, {}})
    return refused(op, fmt::format("{} is {}; it must be a string", name, to_string(x->spec)));
  return {};
}

element_spec spec_of(const std::vector<field_format>& fields) {
  std::vector<std::string> names;
  std::vector<tensor_spec> specs;
  for (const auto& f : fields) {
    names.push_back(f.name);
    specs.push_back(f.spec);
  }
  std::vector<structure> leaves(fields.size());
  auto layout = names[0].empty() ? structure::tuple(std::move(leaves))
                                 : structure::named(std::move(names), std::move(leaves));
  return {std::move(layout), std::move(specs)};
}

status check_csv(const csv_format& format, size_t columns) {
  constexpr auto op = dataset_op::csv;
  const auto c = format.delimiter;
  if (c == '"' || c == '\n' || c == '\r' || c == '\0')
    return refused(op, fmt::format("the delimiter has code {}; it must not be '\"', 0 or an end of "
                                   "line",
                                   static_cast<int>(c)));
  if (format.select.empty())
    return {};
  if (format.select.size() != columns)
    return refused(op, fmt::format("{} columns are selected, but {} are described",
                                   format.select.size(), columns));
  for (size_t i = 0; i < format.select.size(); ++i)
    if (format.select[i] < 0 || (i != 0 && format.select[i] <= format.select[i - 1]))
      return refused(
        op, fmt::format("selected column {} is {}; they must ascend from 0", i, format.select[i]));
  return {};
}

} // namespace

result<dataset_ptr> make_fixed_length(expr_ptr files, record_layout layout,
                                      file_compression compression) {
  constexpr auto op = dataset_op::fixed_length;
  HEADRACE_TRY(check_strings(op, files, "files"));
  HEADRACE_TRY(check_count(op, "record_bytes", layout.record_bytes));
  if (layout.record_bytes > most_record_bytes)
    return refused(op, fmt::format("record_bytes is {}; it must be at most {}", layout.record_bytes,
                                   most_record_bytes));
  if (layout.header_bytes < 0 || layout.header_bytes > most_record_bytes)
    return refused(op, fmt::format("header_bytes is {}; it must be between 0 and {}",
                                   layout.header_bytes, most_record_bytes));
  if (layout.footer_bytes < 0 || layout.footer_bytes > most_record_bytes)
    return refused(op, fmt::format("footer_bytes is {}; it must be between 0 and {}",
                                   layout.footer_bytes, most_record_bytes));
  auto node = node_of(op);
  node.tensors = {std::move(files)};
  node.parameters = fixed_length_parameters{compression, layout};
  node.spec = tensor_spec{dtype::string, {}};
  return finish(std::move(node));
}

result<dataset_ptr> make_csv(expr_ptr files, std::vector<field_format> columns, csv_format format,
                             file_compression compression) {
  constexpr auto op = dataset_op::csv;
  HEADRACE_TRY(check_strings(op, files, "files"));
  HEADRACE_TRY(check_fields(op, columns, "column"));
  HEADRACE_TRY(check_scalars(op, columns, "column"));
  HEADRACE_TRY(check_csv(format, columns.size()));
  auto node = node_of(op);
  node.tensors = {std::move(files)};
  node.spec = spec_of(columns);
  node.parameters = csv_parameters{compression, std::move(columns), std::move(format)};
  return finish(std::move(node));
}

result<dataset_ptr> make_json_lines(expr_ptr files, std::vector<field_format> fields,
                                    file_compression compression) {
  constexpr auto op = dataset_op::json_lines;
  HEADRACE_TRY(check_strings(op, files, "files"));
  HEADRACE_TRY(check_fields(op, fields, "field"));
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name.empty())
      return refused(op, fmt::format("field {} has no name; name the key to read", i));
    if (!fields[i].spec.dims.has_rank())
      return refused(op, fmt::format("{} is {}; it must have a rank",
                                     name_of(fields[i], i, "field"), to_string(fields[i].spec)));
  }
  auto node = node_of(op);
  node.tensors = {std::move(files)};
  node.spec = spec_of(fields);
  node.parameters = json_lines_parameters{compression, std::move(fields)};
  return finish(std::move(node));
}

result<dataset_ptr> make_sql(std::string driver, expr_ptr data_source, expr_ptr query,
                             std::vector<field_format> columns) {
  constexpr auto op = dataset_op::sql;
  if (driver != "sqlite")
    return refused(op, fmt::format("driver is '{}'; it must be 'sqlite'", driver));
  HEADRACE_TRY(check_string(op, data_source, "data_source"));
  HEADRACE_TRY(check_string(op, query, "query"));
  HEADRACE_TRY(check_fields(op, columns, "column"));
  HEADRACE_TRY(check_scalars(op, columns, "column"));
  auto node = node_of(op);
  node.tensors = {std::move(data_source), std::move(query)};
  node.spec = spec_of(columns);
  node.parameters = sql_parameters{std::move(driver), std::move(columns)};
  return finish(std::move(node));
}

result<dataset_ptr> make_tar_samples(expr_ptr files, std::vector<std::string> extensions,
                                     bool skip_incomplete) {
  constexpr auto op = dataset_op::tar_samples;
  HEADRACE_TRY(check_strings(op, files, "files"));
  std::vector<field_format> fields;
  std::vector<field_format> parts{field("__key__", dtype::string)};
  std::unordered_set<std::string_view> known{"__key__"};
  for (const auto& names : extensions) {
    fields.push_back(field(names, dtype::string));
    parts.push_back(field(names.substr(0, names.find(';')), dtype::string));
    for (size_t at = 0; at <= names.size();) {
      const auto end = std::min(names.find(';', at), names.size());
      const auto one = std::string_view{names}.substr(at, end - at);
      if (one.empty())
        return refused(op, fmt::format("extension '{}' names an empty one", names));
      if (!known.insert(one).second)
        return refused(op, fmt::format("extension '{}' is asked for twice", one));
      at = end + 1;
    }
  }
  HEADRACE_TRY(check_fields(op, fields, "extension"));
  auto node = node_of(op);
  node.tensors = {std::move(files)};
  node.parameters = tar_samples_parameters{std::move(fields), skip_incomplete};
  node.spec = spec_of(parts);
  return finish(std::move(node));
}

} // namespace headrace::detail
