#include "headrace/client/command/run/end_rank.hpp"

#include "headrace/client/command/run/drain_workers.hpp"
#include "headrace/client/command/run/lost_service.hpp"
#include "headrace/client/command/run/run_ranks.hpp"
#include "headrace/client/command/settings/option_values.hpp"
#include "headrace/client/service_status.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <fmt/format.h>
#include <string>
#include <vector>

namespace headrace::detail::command {
namespace {

/// Waits until each other rank for which `which` returns true is in the state `state`, has ended,
/// or is lost.
status await_ends(run_process& self, time_point until, const unended_ranks::question& which,
                  const std::string& state) {
  unended_ranks looks;
  std::vector<int> missing;
  const auto over = self.servers.wait(until, [&]() -> result<bool> {
    missing.clear();
    if (!self.leads() && !why_lost(self).empty())
      return true;
    const auto at = clock::system().now();
    const auto now = get_service_status(self.local, std::chrono::seconds{1});
    const auto records = self.records_of_ranks();
    missing = looks.look(now ? &*now : nullptr, records ? &*records : nullptr, self.options.rank,
                         which, state, at);
    return missing.empty();
  });
  if (over && !*over)
    return aborted(fmt::format("the command of {} of {} had not ended within --end-timeout ({})",
                               ranks_text(missing), self.options.rank.size,
                               duration_text(self.options.end_timeout)));
  return over.status();
}

} // namespace

status end_rank(run_process& self) {
  const auto until = clock::system().now() + self.options.end_timeout;
  if (self.leads()) {
    HEADRACE_TRY(await_ends(
      self, until, [](int, const run_progress*) { return true; }, "ended"));
    drain_workers(self, [](const worker_status&) { return true; });
    return {};
  }
  // Processes of this node that start no workers may read from the workers of this process. So
  // their commands must have ended before these workers are drained.
  if (self.by_directory() && self.options.workers > 0 && self.options.rank.local_size > 1)
    HEADRACE_TRY(await_ends(
      self, until,
      [&self](int, const run_progress* x) {
        return x != nullptr && x->host == self.host && x->workers == 0;
      },
      "done"));
  drain_workers(self, [tag = tag_of_rank(self.options.rank.rank)](const worker_status& x) {
    return has_tag(x, tag);
  });
  return {};
}

} // namespace headrace::detail::command
