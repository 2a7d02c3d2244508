#pragma once

#include "headrace/actors/protocol/round_epoch.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace headrace::detail {

/// Decides in which order a consumer of coordinated reads takes rows from its tasks, and how many
/// it may hand out: only the rounds whose rows all consumers have received, so that no consumer
/// hands out a round that another one cannot get. Pure.
class round_order {
public:
  /// Begins the next epoch, on which the consumers have agreed. All consumers have received all
  /// rounds before the first round of the epoch. In the first call: this consumer begins with that
  /// round.
  void begin(round_epoch next);
  /// All consumers that take part in that epoch have received this many groups of the task.
  void received_by_all(task_id task, uint64_t epoch, uint64_t groups);
  /// Hands out nothing until the next epoch begins.
  void freeze() { frozen_ = true; }

  /// The task whose rows are next, and the number of its rows that may be handed out one after the
  /// other; nullopt: no row may be handed out yet.
  struct turn {
    task_id from;
    uint64_t rows = 0;
  };
  std::optional<turn> next() const;
  /// This many rows of the turn that `next` returned last were handed out.
  void taken(uint64_t rows);

  /// The number of the newest epoch; 0: no epoch has begun.
  uint64_t epoch() const noexcept { return epochs_.empty() ? 0 : epochs_.back().number; }
  /// The round that is handed out next.
  uint64_t round() const noexcept { return round_; }
  /// True if rows of the task may be handed out, now or later.
  bool serves(task_id task) const;

private:
  /// The epoch of the round that is handed out next, and the later epochs.
  std::deque<round_epoch> epochs_;
  /// The number of groups of each task that all consumers have received, in the newest epoch.
  std::map<task_id, uint64_t> common_;
  uint64_t round_ = 0;
  bool frozen_ = false;
};

} // namespace headrace::detail
