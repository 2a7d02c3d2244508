#include "headrace/client/command/settings/option_values.hpp"
#include "headrace/client/command/settings/server_flags.hpp"
#include "headrace/client/command/settings/server_settings.hpp"
#include "headrace/client/command/status/top_text.hpp"
#include "headrace/client/command/subcommands.hpp"
#include "headrace/client/internal/service_node.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/node/node.hpp"
#include "headrace/runtime/process/exit_code.hpp"
#include "headrace/runtime/process/stop_signal.hpp"

#include <cstdio>
#include <limits>
#include <sys/ioctl.h>
#include <unistd.h>

namespace headrace::detail::command {
namespace {

struct flags {
  std::string dispatcher = default_dispatcher;
  tls_options tls;
  duration every = std::chrono::seconds{1};
  int count = 0;
};

int fail(const status& why, exit_code code) {
  std::fprintf(stderr, "headrace top: %s\n", why.message().c_str());
  return static_cast<int>(code);
}

size_t columns() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : 100;
}

int run(const flags& given) {
  stop_signal stop;
  auto here = node::process(service_node(node_role::tool, given.tls));
  if (!here)
    return fail(here.status(), exit_code_of(here.status()));
  const bool screen = ::isatty(STDOUT_FILENO) != 0;
  // The first request is repeated for this time: a dispatcher that was started just before this
  // process may not listen yet.
  const auto patience = clock::system().now() + std::chrono::seconds{3};
  for (int shown = 1;; ++shown) {
    auto now = get_service_status(given.dispatcher, std::chrono::seconds{5});
    while (!now && shown == 1 && clock::system().now() < patience
           && !stop.wait(std::chrono::milliseconds{100}))
      now = get_service_status(given.dispatcher, std::chrono::seconds{5});
    if (!now)
      return fail(now.status(), exit_code_of_connect(now.status()));
    std::fputs(((screen ? "\x1b[H\x1b[2J" : "") + top_text(*now, columns(), screen)).c_str(),
               stdout);
    std::fflush(stdout);
    if (shown == given.count || stop.wait(given.every))
      return static_cast<int>(exit_code::ok);
  }
}

} // namespace

void add_top(CLI::App& app, action& chosen) {
  auto given = std::make_shared<flags>();
  auto& sub = *app.add_subcommand(
    "top", "Show why trainers wait, and where the time of operators goes, until interrupted");
  add_service_flag(sub, given->dispatcher);
  add_duration(sub, "--every", given->every, "How often");
  sub.add_option("--count", given->count, "End after so many times; 0: never")
    ->type_name("N")
    ->check(CLI::Range(0, std::numeric_limits<int>::max()));
  add_tls_flags(sub, given->tls);
  sub.callback([given, &sub, &chosen] {
    settle_service(sub, given->dispatcher);
    chosen = [given] { return run(*given); };
  });
}

} // namespace headrace::detail::command
