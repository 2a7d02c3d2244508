#include "headrace/client/command/run/lost_service.hpp"

#include "headrace/client/command/settings/option_values.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail::command {

std::string why_lost(const run_process& self) {
  // When rank 0 ends, it deletes the file of the service, and its dispatcher ends. So if the
  // dispatcher has been silent for this time, and the file is gone, the service has ended.
  constexpr auto long_enough_with_the_file_gone = std::chrono::seconds{5};
  if (self.leads())
    return self.servers.without_dispatcher() ? "it has no dispatcher" : "";
  const auto silent = self.watch->silent_for();
  const auto limit = self.options.lost_timeout;
  if (silent < std::min<duration>(limit, long_enough_with_the_file_gone))
    return "";
  if (silent >= limit)
    return fmt::format("the dispatcher of rank 0 at {} has not answered for {} (--lost-timeout)",
                       self.service, duration_text(limit));
  bool over = false;
  if (self.by_directory())
    if (const auto there = self.directory.service())
      over = !*there || (*there)->token != self.token
             || self.directory.progress(1, self.token)[0].state == "ended";
  return over ? fmt::format("rank 0 has ended, and the dispatcher at {} with it", self.service)
              : "";
}

} // namespace headrace::detail::command
