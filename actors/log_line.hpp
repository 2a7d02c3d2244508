#pragma once

#include "headrace/runtime/log/logger.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace headrace {

/// What a core has its actor write to the log: a value, so that a test can look at it.
struct log_line {
  using value = std::variant<std::string, uint64_t>;

  log_level level = log_level::info;
  std::string text;
  std::vector<std::pair<std::string, value>> fields;
  friend bool operator==(const log_line&, const log_line&) = default;
};

/// Writes it as `logger::write` does.
inline void write(const logger& to, const log_line& what) {
  if (!to.enabled(what.level))
    return;
  auto out = to;
  for (const auto& [key, value] : what.fields)
    std::visit([&, &name = key](const auto& x) { out = out.with({{name, x}}); }, value);
  out.write(what.level, what.text);
}

} // namespace headrace
