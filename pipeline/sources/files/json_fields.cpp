#include "headrace/pipeline/sources/files/json_fields.hpp"

#include "headrace/runtime/base/utf8.hpp"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <simdjson.h>
#include <unordered_map>

namespace headrace::detail {

namespace {

namespace dom = simdjson::dom;

std::string_view kind_of(const dom::element& x) {
  switch (x.type()) {
  case dom::element_type::ARRAY: return "an array";
  case dom::element_type::OBJECT: return "an object";
  case dom::element_type::STRING: return "a string";
  case dom::element_type::BOOL: return "a bool";
  case dom::element_type::NULL_VALUE: return "null";
  default: return "a number";
  }
}

// A short text of a value for errors.
std::string shown(const dom::element& x) {
  constexpr size_t most = 40;
  auto out = simdjson::minify(x);
  return out.size() > most ? std::string{utf8_prefix(out, most)} + "..." : out;
}

status wrong(const dom::element& x, dtype type) {
  return invalid_argument(fmt::format("{} is {}, not {}", shown(x), kind_of(x),
                                      type == dtype::string    ? "a string"
                                      : type == dtype::boolean ? "a bool"
                                      : is_integer(type)       ? "an integer"
                                                               : "a number"));
}

status outside(const dom::element& x, dtype type) {
  return invalid_argument(fmt::format("{} is out of the range of {}", shown(x), to_string(type)));
}

template <std::integral T>
status append_integer(const dom::element& x, field_column& to) {
  // simdjson represents an integer as int64, and as uint64 only if it is too large for int64.
  if (uint64_t value = 0; !x.is_int64() && x.get(value) == simdjson::SUCCESS) {
    if (value > static_cast<uint64_t>(std::numeric_limits<T>::max()))
      return outside(x, dtype_of<T>);
    to.append(static_cast<T>(value));
    return {};
  }
  int64_t value = 0;
  if (x.get(value) != simdjson::SUCCESS)
    return wrong(x, dtype_of<T>);
  if (!std::in_range<T>(value))
    return outside(x, dtype_of<T>);
  to.append(static_cast<T>(value));
  return {};
}

template <class T>
status append_float(const dom::element& x, field_column& to) {
  double value = 0;
  if (x.get(value) != simdjson::SUCCESS)
    return wrong(x, dtype_of<T>);
  const auto out =
    static_cast<T>(static_cast<std::conditional_t<sizeof(T) == 8, double, float>>(value));
  if (std::isfinite(value) && !std::isfinite(static_cast<double>(static_cast<float>(out)))
      && sizeof(T) < 8)
    return outside(x, dtype_of<T>);
  to.append(out);
  return {};
}

status append_value(const dom::element& x, field_column& to) {
  const auto type = to.spec().type;
  if (type == dtype::string) {
    std::string_view value;
    if (x.get(value) != simdjson::SUCCESS)
      return wrong(x, type);
    to.append(value);
    return {};
  }
  return visit_plain(type, [&]<class T>(T) -> status {
    if constexpr (std::is_same_v<T, bool>) {
      bool value = false;
      if (x.get(value) != simdjson::SUCCESS)
        return wrong(x, type);
      to.append(value);
      return {};
    } else if constexpr (std::is_integral_v<T>) {
      return append_integer<T>(x, to);
    } else if constexpr (is_complex(dtype_of<T>)) {
      return internal_error("complex numbers are refused when the dataset is made");
    } else {
      return append_float<T>(x, to);
    }
  });
}

/// Appends the values of nested arrays, and finds their extents.
class tensor_reader {
public:
  explicit tensor_reader(field_column& to)
    : to_(to), dims_(to.spec().dims.dims().begin(), to.spec().dims.dims().end()) {}

  status read(const dom::element& x) {
    HEADRACE_TRY(read(x, 0));
    // If an array is empty, the extents within it were not found: they become 0.
    for (auto& dim : dims_) dim = std::max<int64_t>(dim, 0);
    to_.set_shape(shape{std::move(dims_)});
    return {};
  }

private:
  status read(const dom::element& x, size_t axis) {
    if (axis == dims_.size())
      return append_value(x, to_);
    dom::array parts;
    if (x.get(parts) != simdjson::SUCCESS)
      return invalid_argument(fmt::format("{} is {}, not an array: it must be {}", shown(x),
                                          kind_of(x), to_string(to_.spec())));
    int64_t n = 0;
    for (const dom::element part : parts) {
      ++n;
      HEADRACE_TRY(read(part, axis + 1));
    }
    if (dims_[axis] == shape::unknown)
      dims_[axis] = n;
    else if (dims_[axis] != n)
      return invalid_argument(fmt::format("an array of {} where {} are expected: it must be {}", n,
                                          dims_[axis], to_string(to_.spec())));
    return {};
  }

  field_column& to_;
  std::vector<int64_t> dims_;
};

} // namespace

class json_fields::impl {
public:
  explicit impl(const std::vector<field_format>& fields) : fields_(fields), found_(fields.size()) {
    for (size_t i = 0; i < fields.size(); ++i) numbers_.emplace(fields[i].name, i);
  }

  status read(std::string_view text, size_t padded, row_table& to) {
    dom::element whole;
    if (const auto failed =
          parser_.parse(text.data(), text.size(), padded < simdjson::SIMDJSON_PADDING).get(whole))
      return invalid_argument(fmt::format("no JSON: {}", simdjson::error_message(failed)));
    dom::object object;
    if (whole.get(object) != simdjson::SUCCESS)
      return invalid_argument(fmt::format("{} is {}, not an object", shown(whole), kind_of(whole)));
    std::fill(found_.begin(), found_.end(), std::nullopt);
    for (const auto& [key, value] : object)
      if (const auto at = numbers_.find(key); at != numbers_.end())
        found_[at->second] = value; // of several equal keys, the last one is used
    for (size_t i = 0; i < fields_.size(); ++i)
      if (auto why = append(i, to[i]); !why.ok())
        return why.with_context(fmt::format("key '{}'", fields_[i].name));
    return {};
  }

private:
  status append(size_t i, field_column& to) const {
    const auto& value = found_[i];
    if (!value || value->is_null()) {
      if (!fields_[i].missing)
        return invalid_argument(
          fmt::format("it is {}, and has nothing to stand in", value ? "null" : "missing"));
      to.append_row(*fields_[i].missing);
      return {};
    }
    return tensor_reader{to}.read(*value);
  }

  const std::vector<field_format>& fields_;
  std::unordered_map<std::string_view, size_t> numbers_;
  std::vector<std::optional<dom::element>> found_;
  dom::parser parser_;
};

json_fields::json_fields(const std::vector<field_format>& fields)
  : impl_(std::make_unique<impl>(fields)) {}
json_fields::~json_fields() = default;

status json_fields::read(std::string_view text, size_t padded, row_table& to) {
  return impl_->read(text, padded, to);
}

} // namespace headrace::detail
