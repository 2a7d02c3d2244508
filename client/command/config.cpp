#include "headrace/client/command/settings/setting_flags.hpp"
#include "headrace/client/command/settings/settings_text.hpp"
#include "headrace/client/command/subcommands.hpp"
#include "headrace/runtime/process/exit_code.hpp"

#include <cstdio>
#include <fmt/format.h>

namespace headrace::detail::command {
namespace {

int print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  return static_cast<int>(exit_code::ok);
}

std::string all_texts(const given_settings& given) {
  std::string out;
  for (const auto kind : server_kinds) {
    const auto now = settle(kind, given, environment_of_process());
    if (!now)
      throw CLI::ValidationError{now.status().message()};
    out += fmt::format("{}[{}]\n{}", out.empty() ? "" : "\n", to_string(kind), settings_text(*now));
  }
  return out;
}

} // namespace

void add_config(CLI::App& app, action& chosen) {
  auto& sub = *app.add_subcommand(
    "config", "Print what holds for a server with these flags, this file and this environment, and "
              "where each value is from; without a server, for all of them");
  auto given = std::make_shared<given_settings>();
  sub.add_option("--config", given->file, "TOML file with settings")
    ->type_name("FILE")
    ->check(names_a_file);
  sub.require_subcommand(0, 1);
  for (const auto kind : server_kinds) {
    auto& one = *sub.add_subcommand(std::string{to_string(kind)},
                                    fmt::format("As `headrace {}` would run", to_string(kind)));
    auto json = std::make_shared<bool>(false);
    one.add_flag("--json", *json, "One JSON object");
    add_settings(one, kind, [json, &chosen](const settled& now) {
      chosen = [text = *json ? settings_json(now) : settings_text(now)] { return print(text); };
    });
  }
  sub.callback([&sub, given, &chosen] {
    if (!sub.get_subcommands().empty())
      return;
    chosen = [text = all_texts(*given)] { return print(text); };
  });
}

} // namespace headrace::detail::command
