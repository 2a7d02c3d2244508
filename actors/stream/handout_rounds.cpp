#include "headrace/actors/stream/handout.hpp"

#include <utility>

namespace headrace::detail {

// In coordinated reads, the next block comes from the task that serves the next round.

void handout::begin_epoch(round_epoch next) {
  std::unique_lock lock{mutex_};
  rounds_->begin(std::move(next));
  tell_if_ready(lock);
}

void handout::received_by_all(task_id task, uint64_t epoch, uint64_t groups) {
  std::unique_lock lock{mutex_};
  rounds_->received_by_all(task, epoch, groups);
  tell_if_ready(lock);
}

void handout::freeze_rounds() {
  std::lock_guard lock{mutex_};
  if (current_from_) {
    put_current_back();
    settle_current();
  }
  rounds_->freeze();
}

void handout::begin_at(task_id from, uint64_t elements) {
  std::lock_guard lock{mutex_};
  auto& q = queues_[from];
  q.received = q.before_current = elements;
}

handout::round_marks handout::rounds() {
  std::lock_guard lock{mutex_};
  // If the current block is an error at the end, it comes from no task and belongs to no round.
  const auto taken = current_from_ ? position_of(cut_.load()) : 0;
  return {rounds_->epoch(), rounds_->round() + taken};
}

bool handout::serves_rounds(task_id task) {
  std::lock_guard lock{mutex_};
  return rounds_->serves(task);
}

std::shared_ptr<const block> handout::take_round() {
  settle_current();
  // Rows that belong to no task are in no round: they are errors that the trainer must get.
  if (const auto last = queues_.find(task_id{});
      last != queues_.end() && ready(last->first, last->second))
    return make_current(task_id{}, last->second, UINT64_MAX);
  const auto turn = rounds_->next();
  const auto at = turn ? queues_.find(turn->from) : queues_.end();
  if (at == queues_.end() || !ready(at->first, at->second))
    return nullptr;
  return make_current(turn->from, at->second, turn->rows);
}

} // namespace headrace::detail
