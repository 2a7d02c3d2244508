#include "headrace/client/command/settings/option_values.hpp"
#include "headrace/client/command/settings/server_flags.hpp"
#include "headrace/client/command/settings/server_settings.hpp"
#include "headrace/client/command/status/status_text.hpp"
#include "headrace/client/command/subcommands.hpp"
#include "headrace/client/internal/service_node.hpp"
#include "headrace/client/monitor/status_json.hpp"
#include "headrace/runtime/node/node.hpp"
#include "headrace/runtime/process/exit_code.hpp"
#include "headrace/runtime/process/stop_signal.hpp"

#include <cstdio>
#include <unistd.h>

namespace headrace::detail::command {
namespace {

struct flags {
  std::string dispatcher = default_dispatcher;
  tls_options tls;
  bool json = false;
  std::optional<duration> watch;
  duration timeout = std::chrono::seconds{5};
};

int fail(const status& why, exit_code code) {
  std::fprintf(stderr, "headrace status: %s\n", why.message().c_str());
  return static_cast<int>(code);
}

void show(const flags& given, const service_status& x) {
  // On a terminal, each status replaces the previous one.
  if (given.watch && !given.json && ::isatty(STDOUT_FILENO) != 0)
    std::fputs("\x1b[H\x1b[2J", stdout);
  std::fputs((given.json ? monitor::status_json(x) + "\n" : status_text(x)).c_str(), stdout);
  std::fflush(stdout);
}

int run(const flags& given) {
  stop_signal stop;
  // Requests use the node of the process. This first call creates that node with the TLS files.
  auto here = node::process(service_node(node_role::tool, given.tls));
  if (!here)
    return fail(here.status(), exit_code_of(here.status()));
  do {
    auto now = get_service_status(given.dispatcher, given.timeout);
    if (!now)
      return fail(now.status(), exit_code_of_connect(now.status()));
    show(given, *now);
  } while (given.watch && !stop.wait(*given.watch));
  return static_cast<int>(exit_code::ok);
}

} // namespace

void add_status(CLI::App& app, action& chosen) {
  auto given = std::make_shared<flags>();
  auto& sub = *app.add_subcommand(
    "status", "Show a service: workers, jobs, tasks with rates, and the supervision "
              "tree with restarts");
  add_service_flag(sub, given->dispatcher);
  sub.add_flag("--json", given->json, "One JSON object a line");
  const auto read_watch = [given](const std::string& text) {
    auto every = text.empty() ? result<duration>{std::chrono::seconds{1}} : parse_duration(text);
    if (!every)
      throw CLI::ValidationError{"--watch", every.status().message()};
    if (*every <= duration::zero())
      throw CLI::ValidationError{"--watch", "it must be longer than nothing"};
    given->watch = *every;
  };
  sub
    .add_option_function<std::string>("--watch", read_watch,
                                      "Show it again and again, this often, until interrupted")
    ->type_name("TIME")
    ->expected(0, 1);
  add_duration(sub, "--timeout", given->timeout, "How long to wait for an answer");
  add_tls_flags(sub, given->tls);
  sub.callback([given, &sub, &chosen] {
    settle_service(sub, given->dispatcher);
    chosen = [given] { return run(*given); };
  });
}

} // namespace headrace::detail::command
