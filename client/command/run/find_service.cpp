#include "headrace/client/command/run/find_service.hpp"

#include "headrace/client/command/run/rank_rival.hpp"
#include "headrace/client/command/run/run_directory.hpp"
#include "headrace/client/command/run/run_notices.hpp"
#include "headrace/client/command/settings/option_values.hpp"
#include "headrace/client/service_status.hpp"
#include "headrace/runtime/base/address.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <string>
#include <vector>

namespace headrace::detail::command {
namespace {

/// For a process without a rank: the run to which the process adds its workers. Unset: no run in
/// the process's directory has a dispatcher that answers.
result<std::optional<run_directory>> run_to_help(const run_process& self) {
  std::vector<run_directory> live;
  for (const auto& one : self.directory.runs())
    if (const auto there = one.service();
        there && *there && get_service_status((*there)->address, std::chrono::seconds{1}))
      live.push_back(one);
  // If the directory has several runs, the run of this process's own job is used.
  if (std::ranges::count_if(live, [&](const auto& x) { return x.is_of(self.options.rank.job); })
      == 1)
    std::erase_if(live, [&](const auto& x) { return !x.is_of(self.options.rank.job); });
  if (live.size() > 1) {
    std::vector<std::string> names;
    for (const auto& x : live) names.push_back(x.file());
    return failed_precondition(fmt::format("{} has several runs: {}; {}", self.directory.path(),
                                           fmt::join(names, ", "), one_each));
  }
  return live.empty() ? std::nullopt : std::optional{live.front()};
}

} // namespace

status find_service(run_process& self, time_point until) {
  constexpr auto long_enough_to_replace = std::chrono::seconds{15};
  const auto begin = clock::system().now();
  std::string seen = "there is no " + self.directory.file();
  if (self.options.directory.find('/') == std::string::npos)
    seen += fmt::format(" ({} is a directory here; an address would be {}:PORT)",
                        self.options.directory, self.options.directory);
  rival other;
  const auto found = self.servers.wait(until, [&]() -> result<bool> {
    self.note_waiting("the dispatcher of rank 0: " + seen);
    if (self.by_directory()) {
      if (!self.has_rank()) {
        HEADRACE_ASSIGN(const auto run, run_to_help(self));
        if (!run)
          return false;
        self.directory = *run;
      }
      HEADRACE_ASSIGN(const auto now, self.directory.service());
      if (!now)
        return false;
      self.service = now->address;
      self.token = now->token;
      if (const auto where = parse_address(self.service);
          where && is_loopback(where->host) && now->host != self.host) {
        seen = fmt::format(
          "the dispatcher listens on {} of the host {}, which {} cannot reach. Start all with "
          "--host 0.0.0.0 (or an address of the host) and the TLS files, or --insecure",
          self.service, now->host, self.host);
        // A killed run may have left this record, and rank 0 may be about to replace the record.
        if (clock::system().now() < begin + long_enough_to_replace)
          return false;
        return failed_precondition(seen);
      }
    } else {
      self.service = self.options.service;
    }
    const auto answer = get_service_status(self.service, std::chrono::seconds{1});
    if (!answer)
      seen = answer.status().message();
    else
      other = rival_in(self, *answer);
    if (other.lives)
      return rank_is_taken(self, other);
    return answer.ok() && other.address.empty();
  });
  self.local = self.service;
  if (found && !*found && !other.address.empty())
    return rank_is_taken(self, other);
  if (found && !*found)
    return deadline_exceeded(
      fmt::format("the dispatcher of rank 0 did not come within --start-timeout ({}): {}",
                  duration_text(self.options.start_timeout), seen));
  return found.status();
}

} // namespace headrace::detail::command
