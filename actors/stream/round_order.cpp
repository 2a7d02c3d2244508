#include "headrace/actors/stream/round_order.hpp"

#include <algorithm>
#include <utility>

namespace headrace::detail {

void round_order::begin(round_epoch next) {
  if (next.number <= epoch())
    return;
  if (epochs_.empty())
    round_ = next.first_round;
  common_.clear();
  for (const auto& x : next.tasks) common_[x.task] = x.first_group;
  frozen_ = false;
  epochs_.push_back(std::move(next));
  taken(0);
}

void round_order::received_by_all(task_id task, uint64_t epoch, uint64_t groups) {
  const auto at = common_.find(task);
  if (epoch != this->epoch() || at == common_.end())
    return;
  at->second = std::max(at->second, groups);
}

std::optional<round_order::turn> round_order::next() const {
  if (epochs_.empty() || frozen_)
    return {};
  const auto& now = epochs_.front();
  const auto at = now.of(round_);
  const auto from = now.tasks[at.member].task;
  // If a later epoch has begun, all consumers have received all rounds before it.
  const bool past = epochs_.size() > 1;
  const auto received = past ? UINT64_MAX : common_.at(from);
  if (received <= at.group)
    return {};
  if (now.tasks.size() > 1)
    return turn{from, 1};
  return turn{from, past ? epochs_[1].first_round - round_ : received - at.group};
}

void round_order::taken(uint64_t rows) {
  round_ += rows;
  while (epochs_.size() > 1 && round_ >= epochs_[1].first_round) epochs_.pop_front();
}

bool round_order::serves(task_id task) const {
  return std::ranges::any_of(epochs_, [&](const auto& x) { return x.find(task).has_value(); });
}

} // namespace headrace::detail
