#include "headrace/pipeline/files/csv_scanner.hpp"
#include "headrace/pipeline/functions/operations/string_columns.hpp"
#include "headrace/pipeline/functions/representation/library.hpp"
#include "headrace/pipeline/kernels/string_scalar.hpp"

#include <fmt/format.h>

// The attributes of `expr_op::decode_csv`. `attrs.features`: a type and perhaps a default for each
// field that is read; `attrs.dims`: the indices of these fields in a line, if not all are read;
// `attrs.text`: the delimiter; `attrs.flag`: true if fields may be in quotes; `attrs.texts[0]`: the
// text that stands for a missing value, as the empty text always does.
namespace headrace::detail {

namespace {

constexpr int64_t most_fields = int64_t{1} << 20;

status check_format(const expr_attrs& attrs) {
  if (attrs.text.size() != 1)
    return invalid_argument(
      fmt::format("the delimiter is '{}'; one character is needed", attrs.text));
  if (attrs.texts.size() != 1)
    return invalid_argument("a value that stands for missing ones is needed");
  if (attrs.features.empty())
    return invalid_argument("no fields asked for; name at least one");
  if (!attrs.dims.empty() && attrs.dims.size() != attrs.features.size())
    return invalid_argument(fmt::format("{} fields are selected, and {} have a type",
                                        attrs.dims.size(), attrs.features.size()));
  for (size_t i = 0; i < attrs.dims.size(); ++i)
    if (attrs.dims[i] < (i == 0 ? 0 : attrs.dims[i - 1] + 1) || attrs.dims[i] >= most_fields)
      return invalid_argument("the selected fields must ascend, from 0 on");
  return {};
}

status check_field(const feature_spec& x) {
  if (x.type != dtype::string && !is_integer(x.type) && !is_floating(x.type))
    return invalid_argument(fmt::format("field {} is {}; strings, integers and floats can be read",
                                        x.name, to_string(x.type)));
  if (x.has_default
      && (x.default_value.rows() != 1 || x.default_value.type() != x.type
          || x.default_value.total_values() != 1))
    return invalid_argument(
      fmt::format("the default of field {} is not one {}", x.name, to_string(x.type)));
  return {};
}

result<tensor_spec> infer_field(const library_operands& in) {
  if (in[0].type != dtype::string)
    return invalid_argument(
      fmt::format("the operand is {}; lines of text are needed", to_string(in[0])));
  HEADRACE_TRY(check_format(in.attrs));
  const auto count = static_cast<int64_t>(in.attrs.features.size());
  if (in.attrs.index < 0 || in.attrs.index >= count)
    return invalid_argument(fmt::format("field {} of {}", in.attrs.index, count));
  for (const auto& field : in.attrs.features) HEADRACE_TRY(check_field(field));
  return tensor_spec{in.attrs.features[static_cast<size_t>(in.attrs.index)].type, in[0].dims};
}

/// The values of one field, one for each line.
class field_values {
public:
  field_values(const feature_spec& spec, size_t lines) : spec_(spec) {
    if (spec.type == dtype::string)
      borders_.push_back(int64_t{0});
    else
      values_.reserve(lines * size_of(spec.type));
  }

  /// Appends the value of the field in the current line: the value of `text`, or the default if the
  /// field is `missing`.
  status take(std::string_view text, bool missing) {
    if (missing && !spec_.has_default)
      return invalid_argument("it is missing, and has no default");
    if (spec_.type == dtype::string) {
      const auto value = missing ? spec_.default_value.string(0) : text;
      values_.append(value.data(), value.size());
      return {};
    }
    if (missing) {
      values_.append(spec_.default_value.value_buffer().data(), size_of(spec_.type));
      return {};
    }
    return visit_plain(spec_.type, [&]<class T>(T) -> status {
      if constexpr (dtype_of<T> != dtype::boolean && !is_complex(dtype_of<T>)) {
        T value{};
        HEADRACE_TRY(text::parse_number(text, value));
        values_.append(reinterpret_cast<const std::byte*>(&value), sizeof value);
      }
      return {};
    });
  }
  /// Ends the line. The value of the field is 0 or empty if the line failed, or if no value was
  /// taken.
  void end_line(bool failed) {
    if (failed)
      values_.truncate(end_);
    if (spec_.type == dtype::string)
      borders_.push_back(static_cast<int64_t>(values_.size()));
    else if (values_.size() == end_)
      std::memset(values_.extend(size_of(spec_.type)), 0, size_of(spec_.type));
    end_ = values_.size();
  }
  column finish(const column& lines) && {
    return spec_.type == dtype::string
             ? strings_with_shapes_of(lines, borders_.finish(), values_.finish())
             : with_shapes_of(lines, spec_.type, values_.finish());
  }

private:
  const feature_spec& spec_;
  buffer_builder values_, borders_;
  size_t end_ = 0; ///< the size of `values_` when the last line ended
};

class line_reader {
public:
  line_reader(const expr_attrs& attrs, size_t lines)
    : attrs_(attrs), scanner_(attrs.text[0], attrs.flag) {
    fields_.reserve(attrs.features.size());
    for (const auto& field : attrs.features) fields_.emplace_back(field, lines);
  }

  status read(std::string_view line) {
    scanner_.start(line, true);
    size_t place = 0, next = 0;
    // The fields after the last selected one are not read.
    const auto goes_on = [&](csv_scanner::ending ending) {
      return ending == csv_scanner::ending::field && (attrs_.dims.empty() || next < fields_.size());
    };
    for (auto ending = line.empty() ? csv_scanner::ending::row : csv_scanner::ending::field;
         goes_on(ending); ++place) {
      ending = scanner_.next();
      if (ending != csv_scanner::ending::field && ending != csv_scanner::ending::row)
        return invalid_argument(fmt::format("field {}: its quotes do not fit", place));
      if (ending == csv_scanner::ending::row && ends_line(line))
        return invalid_argument(
          fmt::format("field {}: a line ends in it, which is allowed in quotes only", place));
      if (next == fields_.size() || place != place_of(next))
        continue;
      const auto text = scanner_.value();
      const auto taken = fields_[next++].take(text, text.empty() || text == attrs_.texts[0]);
      if (!taken.ok())
        return taken.with_context(fmt::format("field {}", place));
    }
    if (next < fields_.size() || (attrs_.dims.empty() && place != fields_.size()))
      return invalid_argument(fmt::format("a line has {} fields; {}{} are asked for", place,
                                          attrs_.dims.empty() ? "" : "at least ",
                                          place_of(fields_.size() - 1) + 1));
    return {};
  }
  void end_line(bool failed) {
    for (auto& field : fields_) field.end_line(failed);
  }
  std::vector<column> finish(const column& lines) && {
    std::vector<column> out;
    for (auto& field : fields_) out.push_back(std::move(field).finish(lines));
    return out;
  }

private:
  /// True if the last character that the scanner has read is a line end.
  bool ends_line(std::string_view line) const {
    const char last = line[scanner_.used() - 1];
    return last == '\n' || last == '\r';
  }
  size_t place_of(size_t field) const {
    return attrs_.dims.empty() ? field : static_cast<size_t>(attrs_.dims[field]);
  }

  const expr_attrs& attrs_;
  csv_scanner scanner_;
  std::vector<field_values> fields_;
};

std::vector<column> run_fields(const op_call& call) {
  const auto& in = *call.inputs[0].data;
  line_reader reader{call.node.attrs, static_cast<size_t>(in.total_values())};
  for (size_t r = 0; r < call.rows; ++r) {
    bool failed = call.skips(r);
    for (auto v = in.first_value(r); v < in.first_value(r + 1); ++v) {
      if (!failed) {
        const auto read = reader.read(in.string(static_cast<size_t>(v)));
        failed = !read.ok();
        if (failed)
          call.fail(r, read);
      }
      reader.end_line(failed);
    }
  }
  return std::move(reader).finish(in);
}

column run_field(const op_call& call) {
  return run_fields(call)[static_cast<size_t>(call.node.attrs.index)];
}

} // namespace

std::span<const library_function> csv_functions() {
  static constexpr library_function functions[] = {
    {expr_op::decode_csv, "io.decode_csv", 1, 1, infer_field, run_field, nullptr, run_fields},
  };
  return functions;
}

} // namespace headrace::detail
