#pragma once

#include "headrace/client/command/servers/open_web_port.hpp"
#include "headrace/client/command/settings/server_settings.hpp"
#include "headrace/client/server.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/process/exit_code.hpp"
#include "headrace/runtime/process/process_parent.hpp"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headrace::detail::command {

/// Adds the options for the three TLS files of a client. The defaults are the values of the
/// environment variables for these files.
void add_tls_flags(CLI::App& app, tls_options& into);

/// Adds the option `--dispatcher` of a client.
void add_service_flag(CLI::App& app, std::string& into);
/// To be called after parsing: if `--dispatcher` was not given and HEADRACE_SERVICE is set, `into`
/// gets the value of the variable. Throws `CLI::ValidationError` if `into` is not an address.
void settle_service(const CLI::App& app, std::string& into);

/// Adds the option `--plugin` of a command that runs pipelines without a server.
void add_plugin_flag(CLI::App& app, std::vector<std::string>& into);
/// The functions of these plug-ins. Throws `error`.
function_finder functions_of(const std::vector<std::string>& plugins);

/// Prints the reason, and ends the process at once.
[[noreturn]] void end_process(const std::string& name, const status& why, exit_code code);
/// A callback for a server that cannot continue: it ends the process, with the exit code that
/// corresponds to the reason. `name`: the name of the command, for the message.
std::function<void(const status&)> end_process_as(std::string name);

/// Adds to a server's options those that depend on its process: the log, the record of the earlier
/// processes that it replaces (`past`), and the callback for a server that cannot continue.
template <class Options>
Options in_process(Options given, const std::string& name, const process_lives& lives,
                   const logger& log) {
  given.log = log;
  given.past = lives.past();
  given.on_failed = end_process_as(name);
  return given;
}

/// A started server.
struct running {
  /// Keeps the server running: the server stops when this object is destroyed.
  std::shared_ptr<void> server;
  /// `host:port`, for the first line of output.
  std::string address;
  /// The ports on which the server listens. `--port-file` contains the first one; after a restart
  /// the server listens on the same ports.
  std::vector<uint16_t> ports;
  /// The name in the first line of output; empty: that of the command.
  std::string role = {};
  /// The second line of output, with the address of the server's page or metrics; empty: there is
  /// no such line.
  std::string remark = {};
};

/// Opens the HTTP port of the settings for a started server. The number of the port is appended to
/// `running::ports`, and `running::remark` gets its address. For a dispatcher, the verdicts on its
/// jobs are also logged. Throws `error`.
running with_web_port(running started, const server_settings& given, const process_lives& lives,
                      monitor::monitored what, const logger& log);

/// Runs a server until SIGTERM or SIGINT, under a parent process that restarts it unless
/// `no_restart` is set. `start` is called in the server's process, with data on its earlier lives.
/// Prints `NAME listening on HOST:PORT` as the first line of output. Returns the exit code.
int serve(const std::string& name, const process_flags& flags,
          const std::function<running(const process_lives&, const logger&)>& start);

} // namespace headrace::detail::command
