#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace headrace::command {

/// What the command line asks for: set while it is parsed, called afterwards; returns the exit
/// code.
using action = std::function<int()>;

/// Each adds one subcommand with its options to `app`; when it is the one that is given, `chosen`
/// becomes what it does.
void add_dispatcher(CLI::App& app, action& chosen);
void add_worker(CLI::App& app, action& chosen);
void add_up(CLI::App& app, action& chosen);
void add_config(CLI::App& app, action& chosen);
void add_drain(CLI::App& app, action& chosen);
void add_explain(CLI::App& app, action& chosen);
void add_status(CLI::App& app, action& chosen);
void add_version(CLI::App& app, action& chosen);

} // namespace headrace::command
