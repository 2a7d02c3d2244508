#pragma once

#include "headrace/client/command/server_settings.hpp"
#include "headrace/client/server.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/process/exit_code.hpp"
#include "headrace/runtime/process/process_parent.hpp"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headrace::command {

/// The three TLS files, of who talks to servers: those of the environment, where no flag says
/// others.
void add_tls_flags(CLI::App& app, tls_options& into);

/// `--dispatcher`, of who asks a service.
void add_service_flag(CLI::App& app, std::string& into);
/// For when all is parsed: that of HEADRACE_SERVICE, where no flag said one. Throws
/// `CLI::ValidationError` if it is no address.
void settle_service(const CLI::App& app, std::string& into);

/// `--plugin`, of who runs pipelines and serves nobody.
void add_plugin_flag(CLI::App& app, std::vector<std::string>& into);
/// The functions of these plug-ins. Throws `error`.
std::function<named_function(const std::string&)>
functions_of(const std::vector<std::string>& plugins);

/// Ends the process at once and says why.
[[noreturn]] void end_process(const std::string& name, const status& why, exit_code code);
/// What ends the process with the exit code for why its server cannot go on.
std::function<void(const status&)> end_process_as(std::string name);

/// A server's options with what its process adds to them.
template <class Options>
Options in_process(Options given, const std::string& name, const process_lives& lives,
                   const logger& log) {
  given.log = log;
  given.past = lives.past();
  given.on_failed = end_process_as(name);
  return given;
}

/// A server that was started.
struct running {
  /// Keeps it up; it stops when this is destroyed.
  std::shared_ptr<void> server;
  /// `host:port`, for the first line of output.
  std::string address;
  /// What it listens on, for `--port-file` (the first one) and for its next life.
  std::vector<uint16_t> ports;
  /// What that line calls it; empty: its name.
  std::string role = {};
};

/// Runs a server until SIGTERM or SIGINT, under a parent process that restarts it. `start` is
/// called in the child with what it knows of its earlier lives. Prints `NAME listening on
/// HOST:PORT` as the first line of output. Returns the exit code.
int serve(const std::string& name, const process_flags& flags,
          const std::function<running(const process_lives&, const logger&)>& start);

} // namespace headrace::command
