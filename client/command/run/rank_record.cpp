#include "headrace/client/command/run/rank_record.hpp"

#include "headrace/client/command/run/run_directory.hpp"
#include "headrace/client/command/run/run_notices.hpp"

#include <fmt/format.h>
#include <mutex>

namespace headrace::detail::command {
namespace {

// `note_rank_killed` writes the last record of the rank: after that, `note_rank` writes no record.
std::mutex of_records;
bool rank_was_killed = false;

} // namespace

status claim_rank(const run_process& self) {
  if (!self.by_directory() || !self.has_rank())
    return {};
  const auto how = self.directory.claim(
    self.options.rank.rank, {"running", self.host, self.options.workers, self.process}, self.token);
  if (how.code() != status_code::already_exists)
    return how;
  self.directory.dispute(self.token);
  return already_exists(fmt::format("{}: it is another run, or two processes have this rank; {}",
                                    how.message(), one_each));
}

void note_rank(const run_process& self, const std::string& state) {
  const std::lock_guard guard{of_records};
  if (self.by_directory() && self.has_rank() && !rank_was_killed)
    if (const auto how =
          self.directory.write(self.options.rank.rank,
                               {state, self.host, self.options.workers, self.process}, self.token);
        !how)
      say(how.message());
}

void note_rank_killed(const run_options& options, const std::string& process) {
  if (options.directory.empty() || options.command.empty())
    return;
  const run_directory directory{options.directory, options.rank.name()};
  const std::lock_guard guard{of_records};
  rank_was_killed = true;
  if (const auto now = directory.service(); now && *now)
    (void)directory.write(options.rank.rank, {"ended", host_name(), options.workers, process},
                          (*now)->token);
}

} // namespace headrace::detail::command
