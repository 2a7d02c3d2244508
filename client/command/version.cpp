#include "headrace/client/command/subcommands.hpp"
#include "headrace/runtime/process/exit_code.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace headrace::detail::command {

void add_version(CLI::App& app, action& chosen) {
  auto& sub = *app.add_subcommand("version", "Print the version");
  sub.callback([&chosen] {
    chosen = [] {
      std::puts("headrace " HEADRACE_VERSION);
      return static_cast<int>(exit_code::ok);
    };
  });
}

} // namespace headrace::detail::command
