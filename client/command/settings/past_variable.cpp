#include "headrace/client/command/settings/past_variable.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace headrace::detail::command {

namespace {
/// The name differs from those of the variables for settings.
constexpr const char* name = "_HEADRACE_PAST";
} // namespace

std::string past_variable(const process_past& past) {
  return std::string{name} + "=" + std::to_string(past.restarts) + " " + past.last_reason;
}

process_past past_of_this_process() {
  const auto* value = std::getenv(name);
  if (value == nullptr)
    return {};
  const std::string_view text{value};
  process_past out;
  const auto [rest, failed] = std::from_chars(text.data(), text.data() + text.size(), out.restarts);
  if (failed != std::errc{} || out.restarts == 0)
    return {};
  if (rest != text.data() + text.size())
    out.last_reason = std::string{rest + 1, text.data() + text.size()};
  return out;
}

} // namespace headrace::detail::command
