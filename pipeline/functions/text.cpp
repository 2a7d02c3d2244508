#include "headrace/pipeline/functions/text.hpp"

#include <fmt/format.h>

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

} // namespace headrace::detail::text
