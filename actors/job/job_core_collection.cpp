#include "headrace/actors/job/job_core.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headrace::detail {

// This file collects repetitions that no reader reads, and ends the job.

namespace {

/// The longest time for which a named job without readers and without unfinished repetitions is
/// kept.
constexpr duration kept_for_the_next = std::chrono::minutes{5};

} // namespace

std::optional<time_point> job_core::collected_at(uint64_t number, const repetition& r) const {
  const auto& terms = about_.terms;
  if (!terms.gc_timeout || about_.name.empty() || r.state.finished() || !r.state.consumers().empty()
      || (about_.policy == sharding_policy::dynamic && !terms.gc_dynamic_sharding_jobs))
    return {};
  const auto at = connected_.find(number);
  const auto unread = (at != connected_.end() ? at->second.idle_since : began_) + *terms.gc_timeout;
  // A repetition is collected at the first of the periodic checks that is not before `unread`.
  const auto every = std::max(terms.gc_check_interval, duration{1});
  const auto looks = (std::max(unread - began_, duration{1}) + every - duration{1}) / every;
  return began_ + looks * every;
}

std::string job_core::why_collected() const {
  return fmt::format("job '{}' was collected: nobody read it for {:.0f} s (the dispatcher's "
                     "job_gc_timeout_ms, --job-gc-timeout), so that what it had not given is gone; "
                     "who begins to read it now reads it from its beginning",
                     about_.name, in_seconds(about_.terms.gc_timeout.value_or(duration{})));
}

void job_core::collect() {
  std::vector<uint64_t> due;
  for (const auto& [number, r] : record_.repetitions())
    if (const auto at = collected_at(number, r); at && *at <= now_)
      due.push_back(number);
  for (auto number : due) collect(number);
}

void job_core::collect(uint64_t number) {
  const auto& r = record_.repetitions().at(number);
  say(log_level::info, "repetition collected", {{"name", about_.name}, {"repetition", number}});
  for (const auto& waiting : connected_[number].leases)
    answer(waiting.request, aborted(why_collected()));
  for (const auto& [id, task] : r.state.tasks()) {
    if (task.alive() || task.state == iteration::task_state::lost)
      stop(task, why_collected());
    forget_orders(id);
  }
  connected_.erase(number);
  commit({{number, job_record::collected{}}});
}

std::optional<time_point> job_core::ends_at() const {
  if (is_read())
    return {};
  const auto& all = record_.repetitions();
  if (all.empty())
    return record_.has_collected() ? now_ : began_ + kept_for_the_next;
  if (about_.name.empty())
    return now_;
  // The outcomes of finished repetitions are kept in the job's past. An unfinished repetition keeps
  // the job from ending until it is collected.
  auto idle = began_;
  for (const auto& [number, r] : all) {
    if (!r.state.finished())
      return {};
    if (const auto at = connected_.find(number); at != connected_.end())
      idle = std::max(idle, at->second.idle_since);
  }
  return idle + std::min(kept_for_the_next, about_.terms.gc_timeout.value_or(kept_for_the_next));
}

void job_core::end_if_unused() {
  const auto at = ends_at();
  if (!at || now_ < *at)
    return;
  say(log_level::info, "job ended", {{"name", about_.name}});
  for (auto& [number, r] : record_.repetitions()) carry_out(r, r.state.cancel());
  over_ = true;
}

} // namespace headrace::detail
