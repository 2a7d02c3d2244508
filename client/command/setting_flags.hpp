#pragma once

#include "headrace/client/command/settle.hpp"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

namespace headrace::command {

/// Adds the flags of this kind of server, and `--config`. Values that are wrong for themselves are
/// refused while the command line is parsed.
void add_setting_flags(CLI::App& app, server_kind kind, given_settings& into);

/// A subcommand that serves: once all is parsed, `use` is called with what holds. What is wrong in
/// the file or the environment, or does not go together, is refused as the command line is.
void add_settings(CLI::App& app, server_kind kind, std::function<void(const settled&)> use);

} // namespace headrace::command
