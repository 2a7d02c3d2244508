#include "headrace/client/command/status/verdict_log.hpp"

#include "headrace/runtime/base/ids.hpp"

#include <algorithm>

namespace headrace::detail::command {

namespace {

/// The interval between requests of the status. It is longer than the time on which a verdict is
/// based, so that consecutive verdicts are based on different times.
constexpr auto interval = std::chrono::seconds{5};

} // namespace

std::vector<verdict> verdict_changes::look(const service_status& now) {
  std::vector<verdict> out;
  std::map<uint64_t, known> jobs;
  for (const auto& job : now.jobs) {
    if (job.state != "running")
      continue;
    auto is = verdict_of(job, now);
    auto& of = jobs[job.job] = jobs_[job.job];
    const std::tuple cause{is.cause, is.what, is.place};
    if (is.cause != slow_part::unknown && cause == of.last && cause != of.named) {
      of.named = cause;
      out.push_back(std::move(is));
    }
    of.last = cause;
  }
  jobs_ = std::move(jobs); // jobs that have ended are removed
  return out;
}

verdict_log::verdict_log(status_watch::question status, logger to)
  : log_(std::move(to)),
    watch_(interval, std::move(status), [this](const service_status& now) { look(now); }) {}

void verdict_log::look(const service_status& now) {
  for (const auto& x : changes_.look(now)) {
    const auto job = std::ranges::find(now.jobs, x.job, &job_status::job);
    log_.info("what bounds a job",
              {{"job", job->name.empty() ? to_hex(x.job) : job->name}, {"verdict", x.text}});
  }
}

} // namespace headrace::detail::command
