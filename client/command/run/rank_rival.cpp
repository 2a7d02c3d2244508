#include "headrace/client/command/run/rank_rival.hpp"

#include "headrace/client/command/run/run_notices.hpp"

#include <fmt/format.h>

namespace headrace::detail::command {

rival rival_in(const run_process& self, const service_status& now) {
  if (self.by_directory() || self.alone() || !self.has_rank())
    return {};
  return rival_of(now, self.options.rank.rank, self.process, clock::system().now() - self.begin,
                  !self.options.work_dir.empty());
}

status rank_is_taken(const run_process& self, const rival& by) {
  return already_exists(fmt::format(
    "rank {} of the run with the service at {} has come already, with a worker at {}: it is "
    "another run, or two processes have this rank; {}",
    self.options.rank.rank, self.service, by.address, one_each));
}

} // namespace headrace::detail::command
