#include "headrace/client/command/settings/server_flags.hpp"

#include "headrace/client/command/servers/port_file.hpp"
#include "headrace/client/command/settings/past_variable.hpp"
#include "headrace/client/command/settings/settle.hpp"
#include "headrace/client/command/status/verdict_log.hpp"
#include "headrace/pipeline/custom/function_registry.hpp"
#include "headrace/runtime/base/address.hpp"
#include "headrace/runtime/process/exit_code.hpp"
#include "headrace/runtime/process/heap.hpp"
#include "headrace/runtime/process/memory_limit.hpp"
#include "headrace/runtime/process/stop_signal.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

namespace headrace::detail::command {
namespace {

/// For a process that does not run under `run_under_parent`. Its earlier lives are read from the
/// environment, where a process that restarts this one describes them. No ports are stored.
class only_life final : public process_lives {
public:
  process_past past() const override { return past_of_this_process(); }
  uint16_t port(size_t, uint16_t fallback) const noexcept override { return fallback; }
  void keep_port(size_t, uint16_t) noexcept override {}
};

int fail(const std::string& name, const status& why) {
  std::fprintf(stderr, "headrace %s: %s\n", name.c_str(), why.message().c_str());
  return static_cast<int>(exit_code_of(why));
}

int live(const std::string& name, const process_flags& flags, process_lives& lives,
         const std::function<running(const process_lives&, const logger&)>& start) {
  stop_signal stop{{.budget = flags.stop_budget}};
  if (flags.memory_limit != 0)
    if (auto how = set_memory_limit(flags.memory_limit); !how)
      return fail(name, how.with_context("--memory-limit"));
  auto log = logger::open(flags.log);
  if (!log)
    return fail(name, log.status());
  try {
    auto up = start(lives, *log);
    for (size_t slot = 0; slot < up.ports.size(); ++slot) lives.keep_port(slot, up.ports[slot]);
    port_file published_port;
    if (auto how = published_port.write(flags.port_file, up.ports.at(0)); !how)
      return fail(name, how.with_context("--port-file"));
    std::printf("%s listening on %s\n", (up.role.empty() ? name : up.role).c_str(),
                up.address.c_str());
    if (!up.remark.empty())
      std::printf("%s\n", up.remark.c_str());
    std::fflush(stdout);
    const auto signal = stop.wait();
    log->info("stopping", {{"signal", signal}});
    up.server.reset();
  } catch (const error& e) {
    return fail(name, e.why());
  }
  return static_cast<int>(exit_code::ok);
}

} // namespace

void add_tls_flags(CLI::App& app, tls_options& into) {
  // The options and their environment variables have the same names as those of the servers.
  const auto variables = environment_of_process();
  for (const auto* what : settings_of(server_kind::worker)) {
    auto* file = what->name == "tls-cert"  ? &into.certificate
                 : what->name == "tls-key" ? &into.key
                 : what->name == "tls-ca"  ? &into.ca_file
                                           : nullptr;
    if (file == nullptr)
      continue;
    if (const auto at = variables.find(what->variable()); at != variables.end())
      *file = at->second;
    app.add_option(what->flag(), *file, what->help)->type_name("FILE")->group("Security");
  }
}

void add_service_flag(CLI::App& app, std::string& into) {
  app
    .add_option("--dispatcher", into,
                "Address of the dispatcher; default: what HEADRACE_SERVICE names")
    ->type_name("HOST:PORT")
    ->capture_default_str();
}

void settle_service(const CLI::App& app, std::string& into) {
  const auto* known = std::getenv("HEADRACE_SERVICE");
  const bool by_variable = app.count("--dispatcher") == 0 && known != nullptr && *known != '\0';
  if (by_variable)
    into = known;
  if (auto where = parse_address(into); !where)
    throw CLI::ValidationError{(by_variable ? "HEADRACE_SERVICE: " : "--dispatcher: ")
                               + where.status().message()};
}

void add_plugin_flag(CLI::App& app, std::vector<std::string>& into) {
  app
    .add_option("--plugin", into,
                "Shared library with C++ functions that pipelines call by name; may be given more "
                "than once")
    ->type_name("FILE")
    ->allow_extra_args(false);
}

function_finder functions_of(const std::vector<std::string>& plugins) {
  auto functions = std::make_shared<function_registry>();
  for (const auto& file : plugins)
    if (auto failed = functions->load_plugin(file); !failed.ok())
      throw error{failed.with_context("--plugin")};
  return function_registry::finder(functions);
}

void end_process(const std::string& name, const status& why, exit_code code) {
  fail(name, why);
  std::fflush(nullptr);
  // The process ends at once, because hanging threads could block an orderly end.
  ::_exit(static_cast<int>(code));
}

std::function<void(const status&)> end_process_as(std::string name) {
  return [name = std::move(name)](const status& why) {
    end_process(name, why,
                why.code() == status_code::resource_exhausted  ? exit_code::stuck_thread
                : why.code() == status_code::deadline_exceeded ? exit_code::cannot_connect
                : why.code() == status_code::permission_denied ? exit_code::failure
                                                               : exit_code::internal);
  };
}

running with_web_port(running started, const server_settings& given, const process_lives& lives,
                      monitor::monitored what, const logger& log) {
  /// The server, and the objects that use it, which end before the server.
  struct watched {
    std::shared_ptr<void> server;
    std::unique_ptr<verdict_log> verdicts;
    std::unique_ptr<monitor::web_server> web;
  };
  auto out = std::make_shared<watched>();
  const bool page = what.status != nullptr;
  if (page)
    out->verdicts = std::make_unique<verdict_log>(what.status, log);
  out->web = open_web_port(given.http_port, lives.port(started.ports.size(), 0), given.endpoint,
                           std::move(what));
  if (out->web) {
    started.ports.push_back(out->web->port());
    started.remark =
      (page ? "status page at " : "metrics at ") + out->web->url() + (page ? "" : "metrics");
  }
  out->server = std::move(started.server);
  started.server = std::move(out);
  return started;
}

int serve(const std::string& name, const process_flags& flags,
          const std::function<running(const process_lives&, const logger&)>& start) {
  ::signal(SIGPIPE, SIG_IGN); // a reader of the log may end before the server does
  return_large_memory_at_once();
  only_life one;
  if (flags.no_restart)
    return live(name, flags, one, start);
  return run_under_parent({.stop_budget = flags.stop_budget + std::chrono::seconds{1}},
                          [&](process_lives& lives) { return live(name, flags, lives, start); });
}

} // namespace headrace::detail::command
