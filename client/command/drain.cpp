#include "headrace/client/command/settings/option_values.hpp"
#include "headrace/client/command/settings/server_flags.hpp"
#include "headrace/client/command/settings/server_settings.hpp"
#include "headrace/client/command/subcommands.hpp"
#include "headrace/client/drain_worker.hpp"
#include "headrace/client/internal/service_node.hpp"
#include "headrace/runtime/base/address.hpp"
#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/node/node.hpp"
#include "headrace/runtime/process/exit_code.hpp"

#include <cstdio>
#include <unistd.h>

namespace headrace::detail::command {
namespace {

struct flags {
  std::string worker;
  std::string dispatcher = default_dispatcher;
  tls_options tls;
  duration timeout = std::chrono::seconds{60};
};

int fail(const status& why, exit_code code) {
  std::fprintf(stderr, "headrace drain: %s\n", why.message().c_str());
  return static_cast<int>(code);
}

/// On a terminal the progress is one line that changes; otherwise only the end is printed.
void show(const draining_worker& x) {
  if (::isatty(STDOUT_FILENO) == 0)
    return;
  std::printf("\r\x1b[Kworker %s at %s is leaving: %u task%s", to_hex(x.worker).c_str(),
              x.address.c_str(), x.tasks, x.tasks == 1 ? "" : "s");
  std::fflush(stdout);
}

int run(const flags& given) {
  auto here = node::process(service_node(node_role::tool, given.tls));
  if (!here)
    return fail(here.status(), exit_code_of(here.status()));
  const auto how =
    drain_worker(given.dispatcher, given.worker, {.timeout = given.timeout, .on_progress = show});
  if (::isatty(STDOUT_FILENO) != 0)
    std::fputs("\r\x1b[K", stdout);
  std::fflush(stdout);
  if (!how) {
    const auto& why = how.status();
    return fail(why, why.code() == status_code::deadline_exceeded ? exit_code::failure
                                                                  : exit_code_of_connect(why));
  }
  std::printf("worker %s at %s has left\n", to_hex(how->worker).c_str(), how->address.c_str());
  return static_cast<int>(exit_code::ok);
}

} // namespace

void add_drain(CLI::App& app, action& chosen) {
  auto given = std::make_shared<flags>();
  auto& sub = *app.add_subcommand(
    "drain", "Have a worker leave in order, and wait until it has: it gets no new tasks, gives "
             "trainers what it has begun and others the rest, and its process ends");
  sub
    .add_option("worker", given->worker,
                "The worker: its address or its number, as `headrace status` shows them")
    ->type_name("WORKER")
    ->required();
  add_service_flag(sub, given->dispatcher);
  add_duration(sub, "--timeout", given->timeout,
               "How long to wait until it has left; it goes on leaving after that");
  add_tls_flags(sub, given->tls);
  sub.callback([given, &sub, &chosen] {
    settle_service(sub, given->dispatcher);
    if (auto how = check_worker_name(given->worker); !how)
      throw CLI::ValidationError{how.message()};
    chosen = [given] { return run(*given); };
  });
}

} // namespace headrace::detail::command
