#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::detail::command {

/// Reads `250ms`, `5s`, `2m` or `1h`; the unit is required.
result<duration> parse_duration(std::string_view text);
/// The inverse of `parse_duration`. The unit is the largest one that needs no fraction.
std::string duration_text(duration x);

/// Reads a number of bytes: `1048576`, `512K`, `512M`, `2G` (powers of 1024).
result<uint64_t> parse_bytes(std::string_view text);

/// The items of a list in one argument, separated by commas; an item may be empty.
std::vector<std::string> between_commas(std::string_view text);

/// Adds an option for a positive length of time. The help shows `into`'s value as the default.
CLI::Option* add_duration(CLI::App& app, const std::string& name, duration& into,
                          const std::string& help);

} // namespace headrace::detail::command
