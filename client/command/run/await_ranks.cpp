#include "headrace/client/command/run/await_ranks.hpp"

#include "headrace/client/command/run/rank_rival.hpp"
#include "headrace/client/command/run/run_notices.hpp"
#include "headrace/client/command/run/run_ranks.hpp"
#include "headrace/client/command/settings/option_values.hpp"
#include "headrace/client/service_status.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail::command {

status await_ranks(run_process& self, time_point until) {
  missing_ranks missing;
  bool helpless = false;
  const auto come = self.servers.wait(until, [&]() -> result<bool> {
    if (!missing.ranks.empty())
      self.note_waiting(ranks_text(missing.ranks));
    HEADRACE_TRY(self.servers.failed());
    missing = {};
    if (self.by_directory()) {
      HEADRACE_ASSIGN(const auto there, self.directory.service());
      if (!there)
        return unavailable("rank 0 has ended meanwhile");
      if (there->token != self.token)
        return aborted(
          fmt::format("{} is that of another run by now; {}", self.directory.file(), one_each));
      if (self.directory.disputed(self.token))
        return aborted(fmt::format("another run came to {} while this one was to begin, so that "
                                   "it is not certain which processes belong together; {}",
                                   self.directory.file(), one_each));
    }
    const auto now = get_service_status(self.local, std::chrono::seconds{1});
    if (!now) {
      missing.about = now.status().message();
      return false;
    }
    if (const auto other = rival_in(self, *now); other.lives)
      return rank_is_taken(self, other);
    const auto records = self.records_of_ranks();
    if (records)
      if (const auto own = records->find(self.options.rank.rank);
          own != records->end() && own->second.process != self.process)
        return aborted(fmt::format("another process has come as rank {} of the run in {}; {}",
                                   self.options.rank.rank, self.directory.file(), one_each));
    missing = missing_at_begin(*now, self.options.rank, self.options.workers,
                               records ? &*records : nullptr);
    // If all ranks have come and no worker lives, processes without a command have to add workers.
    helpless = self.by_directory() && missing.ranks.empty()
               && std::ranges::none_of(now->workers, &worker_status::alive);
    return missing.ranks.empty() && !helpless;
  });
  if (come && !*come && helpless)
    return deadline_exceeded(
      fmt::format("the nodes have no workers (--workers-per-node 0), and no others came within "
                  "--start-timeout ({})",
                  duration_text(self.options.start_timeout)));
  if (come && !*come && missing.ranks.empty())
    return deadline_exceeded(fmt::format("the service did not answer: {}", missing.about));
  if (come && !*come)
    return deadline_exceeded(fmt::format("{} of {} did not come within --start-timeout ({}){}",
                                         ranks_text(missing.ranks), self.options.rank.size,
                                         duration_text(self.options.start_timeout), missing.about));
  return come.status();
}

} // namespace headrace::detail::command
