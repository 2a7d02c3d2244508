#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace headrace::detail::command {

/// The action of a command line. It is set while the command line is parsed, and called afterwards.
/// It returns the exit code.
using action = std::function<int()>;

/// Each of these functions adds one subcommand with its options to `app`. If the command line uses
/// the subcommand, `chosen` is set to its action.
void add_dispatcher(CLI::App& app, action& chosen);
void add_worker(CLI::App& app, action& chosen);
void add_up(CLI::App& app, action& chosen);
void add_certificates(CLI::App& app, action& chosen);
void add_config(CLI::App& app, action& chosen);
void add_drain(CLI::App& app, action& chosen);
void add_explain(CLI::App& app, action& chosen);
void add_report(CLI::App& app, action& chosen);
void add_run(CLI::App& app, action& chosen);
void add_status(CLI::App& app, action& chosen);
void add_top(CLI::App& app, action& chosen);
void add_version(CLI::App& app, action& chosen);

} // namespace headrace::detail::command
