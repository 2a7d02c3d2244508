#include "headrace/pipeline/kernels/string_scalar.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <locale.h>
#include <string>

namespace headrace::detail::text {

status not_a_number(std::string_view x, dtype type, bool out_of_range) {
  constexpr size_t most = 64;
  const auto shown = x.substr(0, most);
  const auto* dots = x.size() > most ? "..." : "";
  if (out_of_range)
    return headrace::out_of_range(
      fmt::format("'{}{}' is out of the range of {}", shown, dots, to_string(type)));
  return invalid_argument(fmt::format("'{}{}' is no {}", shown, dots, to_string(type)));
}

namespace {

/// strtof and strtod, unlike from_chars, distinguish numbers that are too small from those that are
/// too large. Here they read a decimal point in any locale of the process.
template <class T, class Read>
bool nearest(std::string_view x, T& out, Read read) {
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  out = read(std::string{x}.c_str(), nullptr, plain);
  return std::isfinite(out);
}

} // namespace

bool parse_tiny(std::string_view x, float& out) { return nearest(x, out, strtof_l); }
bool parse_tiny(std::string_view x, double& out) { return nearest(x, out, strtod_l); }

} // namespace headrace::detail::text
