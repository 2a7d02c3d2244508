#pragma once

#include "headrace/client/command/settings/settle.hpp"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

namespace headrace::detail::command {

/// For `CLI::Option::check`: returns an empty string if the value may be the name of a file, else
/// the error message.
std::string names_a_file(const std::string& value);

/// Adds the flags of this kind of server, and `--config`. Values that are invalid by themselves are
/// refused while the command line is parsed.
void add_setting_flags(CLI::App& app, server_kind kind, given_settings& into);

/// Adds the settings of a kind of server to a subcommand. After parsing, `use` is called with the
/// resulting settings. Errors in the file or the environment, and contradictions between settings,
/// are reported like errors of the command line.
void add_settings(CLI::App& app, server_kind kind, std::function<void(const settled&)> use);

} // namespace headrace::detail::command
