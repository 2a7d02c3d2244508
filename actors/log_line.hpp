#pragma once

#include "headrace/runtime/log/logger.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace headrace::detail {

/// A line that a core orders its actor to log.
struct log_line {
  using value = std::variant<std::string, uint64_t>;
  log_level level = log_level::info;
  std::string text;
  std::vector<std::pair<std::string, value>> fields{};
  friend bool operator==(const log_line&, const log_line&) = default;
};

inline void write(const logger& to, const log_line& line) {
  if (!to.enabled(line.level))
    return;
  auto out = to;
  for (const auto& field : line.fields)
    std::visit([&](const auto& x) { out = out.with({{field.first, x}}); }, field.second);
  out.write(line.level, line.text);
}

} // namespace headrace::detail
