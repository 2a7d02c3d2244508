#include "headrace/actors/worker/save_work.hpp"

#include <utility>

namespace headrace::detail {

void save_work::ended(save_report how) {
  if (!works_on(how.id, how.number))
    return;
  running_.erase(how.id);
  reports_.push_back(std::move(how));
}

std::vector<save_id> save_work::leave() {
  leaves_ = true;
  std::vector<save_id> out;
  for (const auto& [id, number] : std::exchange(running_, {})) {
    reports_.push_back({id, number, step_given_back{}});
    out.push_back(id);
  }
  return out;
}

std::optional<save_question> save_work::question() {
  if (waits_ || (reports_.empty() && (!asks_ || (leaves_ && running_.empty()))))
    return std::nullopt;
  // After a failed question, reports wait for the next heartbeat.
  if (failed_ && !asks_)
    return std::nullopt;
  waits_ = true;
  asks_ = failed_ = false;
  said_ = reports_.size();
  save_question out{.takes = !leaves_, .running = {}, .reports = reports_};
  for (const auto& [id, number] : running_) out.running.push_back({id, number});
  return out;
}

save_work::decided save_work::answered(const result<save_steps>& what) {
  if (!std::exchange(waits_, false))
    return {};
  if (!what) {
    failed_ = true;
    return {};
  }
  reports_.erase(reports_.begin(), reports_.begin() + static_cast<std::ptrdiff_t>(said_));
  decided out;
  for (auto id : what->over)
    if (running_.erase(id) != 0)
      out.stop.push_back(id);
  for (const auto& order : what->orders) {
    if (leaves_ || running_.contains(order.what.id)) {
      reports_.push_back({order.what.id, order.number, step_given_back{}});
      continue;
    }
    running_.emplace(order.what.id, order.number);
    out.begin.push_back(order);
  }
  return out;
}

} // namespace headrace::detail
