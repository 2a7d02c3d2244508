#include "headrace/pipeline/types/element.hpp"

#include <fmt/format.h>

namespace headrace {

std::string_view tensor_view::string(size_t index) const {
  if (type() != dtype::string)
    wrong_type(dtype::string);
  if (index >= elements())
    throw error{invalid_argument(fmt::format("string {} of a tensor of {}", index, elements()))};
  return column_->string(static_cast<size_t>(column_->first_value(row_)) + index);
}

void tensor_view::wrong_type(dtype asked) const {
  throw error{invalid_argument(fmt::format("asked for {} values of a tensor that holds {}",
                                           to_string(asked), to_string(type())))};
}

void tensor_view::not_scalar() const {
  throw error{invalid_argument(
    fmt::format("asked for the single value of a tensor of shape {}", to_string(dims())))};
}

tensor_view element::operator[](std::string_view name) const {
  auto at = spec_->layout.find(name);
  if (at < 0 || !spec_->layout.children()[static_cast<size_t>(at)].is_leaf())
    throw error{invalid_argument(
      fmt::format("no single component is named '{}' in {}", name, to_string(*spec_)))};
  return (*this)[spec_->layout.first_leaf(static_cast<size_t>(at))];
}

namespace {

constexpr size_t most_values = 8;

std::string print_value(const tensor_view& x, size_t i) {
  if (x.type() == dtype::string)
    return fmt::format("\"{}\"", x.string(i));
  return visit_plain(x.type(), [&]<class T>(T) -> std::string {
    const auto value = x.as<T>()[i];
    if constexpr (std::is_same_v<T, bool>)
      return value ? "true" : "false";
    else if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
      return fmt::format("{}", static_cast<float>(value));
    else if constexpr (dtype_of<T> == dtype::complex64 || dtype_of<T> == dtype::complex128)
      return fmt::format("{}{:+}i", value.real(), value.imag());
    else
      return fmt::format("{}", +value);
  });
}

std::string print_tensor(const tensor_view& x) {
  if (x.dims().is_scalar())
    return print_value(x, 0);
  std::string out = "[";
  const auto n = x.elements();
  for (size_t i = 0; i < std::min(n, most_values); ++i)
    out += (i == 0 ? "" : ", ") + print_value(x, i);
  return out + (n > most_values ? ", ...]" : "]");
}

std::string print(const element& x, const structure& layout, size_t& leaf) {
  if (layout.is_leaf())
    return print_tensor(x[leaf++]);
  const bool named = layout.what() == structure::kind::named;
  std::string out = named ? "{" : layout.is_ragged() ? "ragged(" : "(";
  for (size_t i = 0; i < layout.children().size(); ++i) {
    out += i == 0 ? "" : ", ";
    if (named)
      out += layout.names()[i] + ": ";
    out += print(x, layout.children()[i], leaf);
  }
  return out + (named ? "}" : ")");
}

} // namespace

std::string to_string(const element& x) {
  size_t leaf = 0;
  return print(x, x.spec().layout, leaf);
}

} // namespace headrace
