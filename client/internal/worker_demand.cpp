#include "headrace/client/internal/worker_demand.hpp"

#include "headrace/client/internal/verdict.hpp"

#include <algorithm>

namespace headrace::detail {

std::optional<uint32_t> workers_needed(const service_status& x) {
  std::optional<uint32_t> out;
  bool any = false;
  for (const auto& job : x.jobs) {
    if (job.state != "running" || job.trainers.empty())
      continue;
    any = true;
    const auto now = verdict_of(job, x);
    // All workers run all jobs, so the job with the highest demand decides.
    if (now.wanted != 0)
      out = std::max(out.value_or(0), now.wanted);
    else if (now.cause == slow_part::no_worker)
      out = std::max(out.value_or(0), 1u);
    else if (now.cause != slow_part::unknown && now.running != 0)
      out = std::max(out.value_or(0), now.running);
  }
  return any ? out : std::optional<uint32_t>{0};
}

uint32_t worker_demand::look(const service_status& now, uint32_t present, time_point at) {
  return look(workers_needed(now), present, at);
}

uint32_t worker_demand::look(std::optional<uint32_t> needed, uint32_t present, time_point at) {
  const auto within = [&](uint32_t n) { return std::clamp(n, how_.least, how_.most); };
  if (last_ != present) {
    since_ = at;
    fewer_since_.reset();
  }
  last_ = present;
  if (!needed || present < how_.least || present > how_.most)
    return within(present);
  // Within `settling`, the status is still affected by the earlier number of workers.
  if (at - *since_ < how_.settling)
    return within(present);
  if (*needed >= present) {
    fewer_since_.reset();
    return within(*needed);
  }
  if (!fewer_since_) {
    fewer_since_ = at;
    most_needed_ = 0;
  }
  most_needed_ = std::max(most_needed_, *needed);
  return at - *fewer_since_ >= how_.patience ? within(most_needed_) : within(present);
}

} // namespace headrace::detail
