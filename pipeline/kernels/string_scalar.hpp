#pragma once

#include "headrace/pipeline/types/dtype.hpp"
#include "headrace/runtime/base/status.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

/// The string functions for a single string.
namespace headrace::detail::text {

constexpr bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

constexpr std::string_view strip(std::string_view x) noexcept {
  while (!x.empty() && is_space(x.front())) x.remove_prefix(1);
  while (!x.empty() && is_space(x.back())) x.remove_suffix(1);
  return x;
}

/// Calls `take` with each part of `x` between separators; with an empty separator, with each word.
template <class F>
void split(std::string_view x, std::string_view separator, F&& take) {
  if (separator.empty()) {
    for (size_t i = 0;;) {
      while (i < x.size() && is_space(x[i])) ++i;
      if (i == x.size())
        return;
      const auto first = i;
      while (i < x.size() && !is_space(x[i])) ++i;
      take(x.substr(first, i - first));
    }
  }
  for (;;) {
    const auto at = separator.size() == 1 ? x.find(separator[0]) : x.find(separator);
    if (at == std::string_view::npos)
      return take(x);
    take(x.substr(0, at));
    x.remove_prefix(at + separator.size());
  }
}

/// The error for a text that is not a number of `type`; `outside`: it is a number, but out of the
/// range of `type`.
status not_a_number(std::string_view x, dtype type, bool outside);

/// Reads numbers that `std::from_chars` does not read: numbers that are too small or too large for
/// the type (as zero or infinity), and hexadecimal numbers with `0x`. False if `x` is no number.
bool parse_unusual(std::string_view x, float& out);
bool parse_unusual(std::string_view x, double& out);

/// Reads the number that `x` spells; white space around the number is ignored. As in TensorFlow,
/// floats that are too large become infinite, and floats may have hexadecimal digits (`0x1.8p1`).
/// If `T` is a 16-bit float, a number that fits a float32 but not `T` is an error.
template <class T>
status parse_number(std::string_view x, T& out) {
  constexpr bool small = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
  using parsed = std::conditional_t<small, float, T>;
  auto body = strip(x);
  if (!body.empty() && body.front() == '+' && body.size() > 1 && body[1] != '-')
    body.remove_prefix(1);
  parsed value{};
  const auto* end = body.data() + body.size();
  auto [stop, why] = std::from_chars(body.data(), end, value);
  if constexpr (std::is_floating_point_v<parsed>)
    if ((stop != end || why != std::errc{}) && parse_unusual(body, value)) {
      stop = end;
      why = std::errc{};
    }
  if (stop != end || body.empty() || why != std::errc{})
    return not_a_number(x, dtype_of<T>, why == std::errc::result_out_of_range && stop == end);
  out = static_cast<T>(value);
  if constexpr (small)
    if (std::isfinite(value) && !std::isfinite(static_cast<float>(out)))
      return not_a_number(x, dtype_of<T>, true);
  return {};
}

/// An upper bound of the number of characters of a double with six digits after the point.
inline constexpr size_t longest_number = 352;

/// Writes `x` and returns the number of characters.
template <class T>
size_t print_number(T x, char* out) {
  if constexpr (std::is_same_v<T, bool>) {
    std::memcpy(out, x ? "true" : "false", x ? 4 : 5);
    return x ? 4 : 5;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<size_t>(std::to_chars(out, out + longest_number, +x).ptr - out);
  } else {
    const auto value = static_cast<double>(x);
    const auto end = std::to_chars(out, out + longest_number, value, std::chars_format::fixed, 6);
    return static_cast<size_t>(end.ptr - out);
  }
}

} // namespace headrace::detail::text
