#pragma once

#include "headrace/runtime/process/child_process.hpp"
#include "headrace/runtime/process/exit_code.hpp"
#include "tests/support/paths.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::detail::test {

inline constexpr auto command_patience = std::chrono::seconds{30};

/// The exit code and the output of a command.
struct outcome {
  exit_code code;
  std::string text;
};

/// Starts the `headrace` program. `environment`: variables as `NAME=value`; the program inherits
/// all others from this process.
inline child_process start_command(std::vector<std::string> arguments, bool merge_stderr = false,
                                   std::vector<std::string> environment = {}) {
  arguments.insert(arguments.begin(), test::headrace_program());
  return child_process::start({.argv = std::move(arguments),
                               .environment = std::move(environment),
                               .merge_stderr = merge_stderr})
    .value();
}

inline outcome run_command(std::vector<std::string> arguments,
                           std::vector<std::string> environment = {}) {
  auto process = start_command(std::move(arguments), true, std::move(environment));
  outcome out{};
  while (auto line = process.read_line(command_patience)) out.text += *line + "\n";
  out.code = static_cast<exit_code>(process.wait(command_patience).value().as_exit_code());
  return out;
}

/// A server and the address on its first line of output.
struct started {
  explicit started(std::vector<std::string> arguments)
    : process(start_command(std::move(arguments))) {
    const auto line = process.read_line(command_patience).value();
    const std::string_view words = " listening on ";
    const auto at = line.find(words);
    name = line.substr(0, at);
    address = line.substr(at + words.size());
  }
  std::string port() const { return address.substr(address.rfind(':') + 1); }

  child_process process;
  std::string name;
  std::string address;
};

} // namespace headrace::detail::test
