#pragma once

#include "headrace/runtime/base/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace headrace::detail {

/// An epoch of coordinated reads. In every round n consumers take one element each, all from one
/// task. The output of a task is divided into groups of n consecutive elements; the consumer with
/// seat i gets the i-th element of each group. A round is one group of one task.
///
/// The epoch alone decides which task serves which round: from `first_round` on, its tasks take
/// turns.
struct round_epoch {
  struct member {
    task_id task;
    uint64_t first_group = 0; ///< the group of the task's output with which this epoch begins
    friend bool operator==(const member&, const member&) = default;
  };

  uint64_t number = 0; ///< 0: no epoch was agreed on yet
  uint64_t first_round = 0;
  std::vector<member> tasks; ///< at least one, unless `number` is 0

  /// The group of elements that is handed out in a round: the index of its task in `tasks`, and the
  /// number of the group in the output of that task.
  struct place {
    size_t member = 0;
    uint64_t group = 0;
  };
  /// @pre round >= first_round, number != 0
  place of(uint64_t round) const noexcept {
    const auto passed = round - first_round;
    const auto member = static_cast<size_t>(passed % tasks.size());
    return {member, tasks[member].first_group + passed / tasks.size()};
  }
  /// The index of the task in `tasks`.
  std::optional<size_t> find(task_id task) const noexcept {
    for (size_t i = 0; i < tasks.size(); ++i)
      if (tasks[i].task == task)
        return i;
    return {};
  }
  /// The next epoch, of the tasks `with`, from the round `first` on. Tasks of this epoch continue
  /// their outputs, others begin with group 0. @pre first >= first_round, `with` is not empty
  round_epoch followed_by(uint64_t first, const std::vector<task_id>& with) const {
    round_epoch out{number + 1, first, {}};
    for (auto task : with) {
      uint64_t group = 0;
      if (const auto at = find(task)) {
        const auto passed = first - first_round;
        group = tasks[*at].first_group + passed / tasks.size() + (passed % tasks.size() > *at);
      }
      out.tasks.push_back({task, group});
    }
    return out;
  }
  friend bool operator==(const round_epoch&, const round_epoch&) = default;
};

/// The seat of one consumer, which decides which element of each round the consumer takes.
struct round_seat {
  consumer_id who;
  uint32_t index = 0;
  uint64_t begins = 1; ///< the first epoch in which the consumer reads
  friend bool operator==(const round_seat&, const round_seat&) = default;
};

/// A job's announcement to its readers about their rounds.
struct round_view {
  uint32_t consumers = 0; ///< the number of seats; 0: the job has no rounds
  round_epoch now;        ///< the newest epoch that was agreed on
  /// Not zero: the number of a proposed epoch. Each reader that takes part in `now` reports its
  /// next round, and does not hand that round out before the epoch is announced.
  uint64_t proposed = 0;
  std::vector<round_seat> seats = {}; ///< the seats that are taken, by index

  const round_seat* seat_of(consumer_id who) const noexcept {
    for (const auto& x : seats)
      if (x.who == who)
        return &x;
    return nullptr;
  }
  friend bool operator==(const round_view&, const round_view&) = default;
};

/// A reader's report to its job about the rounds.
struct round_progress {
  uint64_t round = 0; ///< the round that its trainer is handed next
  /// Not zero: the number of a proposed epoch; until it is announced, `round` is not handed out.
  uint64_t answers = 0;
  friend bool operator==(const round_progress&, const round_progress&) = default;
};

} // namespace headrace::detail
