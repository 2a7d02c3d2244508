#include "headrace/pipeline/kernels/string_scalar.hpp"

#include "headrace/runtime/base/utf8.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <locale.h>
#include <string>

namespace headrace::detail::text {

status not_a_number(std::string_view x, dtype type, bool outside) {
  constexpr size_t most = 64;
  const auto shown = utf8_prefix(x, most);
  const auto* dots = x.size() > most ? "..." : "";
  if (outside)
    return invalid_argument(
      fmt::format("'{}{}' is out of the range of {}", shown, dots, to_string(type)));
  return invalid_argument(fmt::format("'{}{}' is no {}", shown, dots, to_string(type)));
}

namespace {

/// Reads all of `x` by `read`, strtof_l or strtod_l. Unlike from_chars, these read numbers that are
/// out of range and hexadecimal numbers with `0x`. The decimal separator is a point, whatever the
/// locale of the process.
template <class T, class Read>
bool read_whole(std::string_view x, T& out, Read read) {
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  // The caller has removed white space and one plus sign. `read` would skip more of them, so they
  // are refused here.
  if (x.empty() || x.front() == '+' || is_space(x.front()))
    return false;
  const std::string text{x};
  char* end = nullptr;
  out = read(text.c_str(), &end, plain);
  return end == text.c_str() + text.size();
}

} // namespace

bool parse_unusual(std::string_view x, float& out) { return read_whole(x, out, strtof_l); }
bool parse_unusual(std::string_view x, double& out) { return read_whole(x, out, strtod_l); }

} // namespace headrace::detail::text
