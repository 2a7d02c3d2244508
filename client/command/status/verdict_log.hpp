#pragma once

#include "headrace/client/command/status/status_watch.hpp"
#include "headrace/client/internal/verdict.hpp"
#include "headrace/runtime/log/logger.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace headrace::detail::command {

/// Finds new verdicts. The verdict on a job is new if its cause is the same in two consecutive
/// statuses and differs from the cause that was returned last for the job.
class verdict_changes {
public:
  std::vector<verdict> look(const service_status& now);

private:
  struct known {
    std::tuple<slow_part, std::string, std::optional<size_t>> last, named;
  };
  std::map<uint64_t, known> jobs_;
};

/// Requests the status of a service at an interval, and logs the verdict on each job when its cause
/// changes.
class verdict_log {
public:
  verdict_log(status_watch::question status, logger to);

private:
  void look(const service_status& now);

  const logger log_;
  verdict_changes changes_;
  status_watch watch_; ///< the last member: it ends before the other members, which it uses
};

} // namespace headrace::detail::command
