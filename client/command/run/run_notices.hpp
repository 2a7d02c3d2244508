#pragma once

#include <cstdio>
#include <string>

namespace headrace::detail::command {

/// The remedy, for messages, if two runs were given the same directory or address.
constexpr const char* one_each = "give each run a directory or a port of its own (--rendezvous)";

/// Prints a line on standard error.
inline void say(const std::string& text) {
  std::fprintf(stderr, "headrace run: %s\n", text.c_str());
}

} // namespace headrace::detail::command
