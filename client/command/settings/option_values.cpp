#include "headrace/client/command/settings/option_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <limits>

namespace headrace::detail::command {
namespace {

struct unit {
  std::string_view name;
  int64_t factor;
};
constexpr std::array time_units{unit{"ms", 1'000'000}, unit{"s", 1'000'000'000},
                                unit{"m", 60'000'000'000}, unit{"h", 3'600'000'000'000}};
constexpr std::array byte_units{unit{"", 1}, unit{"K", 1LL << 10}, unit{"M", 1LL << 20},
                                unit{"G", 1LL << 30}, unit{"T", 1LL << 40}};

/// A whole number with one of `units`, multiplied by the value of the unit.
template <size_t N>
result<int64_t> parse_scaled(std::string_view text, const std::array<unit, N>& units,
                             std::string_view wanted) {
  int64_t count = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view rest{end, static_cast<size_t>(text.data() + text.size() - end)};
  if (code == std::errc{} && count >= 0)
    for (const auto& one : units)
      if (rest == one.name && count <= std::numeric_limits<int64_t>::max() / one.factor)
        return count * one.factor;
  return invalid_argument(fmt::format("'{}' is not {}", text, wanted));
}

} // namespace

result<duration> parse_duration(std::string_view text) {
  HEADRACE_ASSIGN(auto ns,
                  parse_scaled(text, time_units, "a length of time such as 250ms, 5s, 2m or 1h"));
  return duration{ns};
}

std::string duration_text(duration x) {
  const auto* best = &time_units.front();
  for (const auto& one : time_units)
    if (x.count() != 0 && x.count() % one.factor == 0)
      best = &one;
  return fmt::format("{}{}", x.count() / best->factor, best->name);
}

result<uint64_t> parse_bytes(std::string_view text) {
  HEADRACE_ASSIGN(auto bytes,
                  parse_scaled(text, byte_units, "a number of bytes such as 1048576, 512M or 2G"));
  return static_cast<uint64_t>(bytes);
}

std::vector<std::string> between_commas(std::string_view text) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    out.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

CLI::Option* add_duration(CLI::App& app, const std::string& name, duration& into,
                          const std::string& help) {
  auto read = [&into, name](const std::string& text) {
    auto parsed = parse_duration(text);
    if (!parsed)
      throw CLI::ValidationError{name, parsed.status().message()};
    if (*parsed <= duration::zero())
      throw CLI::ValidationError{name, "it must be longer than nothing, not '" + text + "'"};
    into = *parsed;
  };
  return app.add_option_function<std::string>(name, read, help)
    ->type_name("TIME")
    ->default_str(duration_text(into));
}

} // namespace headrace::detail::command
