#pragma once

#include "headrace/runtime/base/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace headrace {

/// Coordinated reads: n consumers take one element each in every round, all from one task. A task's
/// output is a row of groups of n consecutive elements, of which consumer i gets the i-th; a round
/// is one group of one task.
///
/// Which task serves which round follows from the epoch alone: from `first_round` on, rounds go to
/// its tasks in turn.
struct round_epoch {
  struct member {
    task_id task;
    uint64_t first_group = 0; ///< of its output, that this epoch begins with
    friend bool operator==(const member&, const member&) = default;
  };

  uint64_t number = 0; ///< 0: there is none yet
  uint64_t first_round = 0;
  std::vector<member> tasks; ///< at least one, unless `number` is 0

  /// One round: the index of its task, and the group of that task's output.
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
  /// Where the task is among `tasks`.
  std::optional<size_t> find(task_id task) const noexcept {
    for (size_t i = 0; i < tasks.size(); ++i)
      if (tasks[i].task == task)
        return i;
    return {};
  }
  /// The next epoch: tasks that are in this one go on with their outputs, others begin theirs.
  /// @pre first >= first_round, `with` is not empty
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

/// Which consumer takes which element of each round.
struct round_seat {
  consumer_id who;
  uint32_t index = 0;
  uint64_t begins = 1; ///< the first epoch in which it reads
  friend bool operator==(const round_seat&, const round_seat&) = default;
};

/// What a job says to its readers of their rounds.
struct round_view {
  uint32_t consumers = 0; ///< in each round; 0: the job has none
  round_epoch now;        ///< the newest epoch that was agreed on
  /// Not zero: this epoch is to come. Each reader that takes part in `now` says which round is its
  /// next, and waits with that until the epoch is announced.
  uint64_t proposed = 0;
  std::vector<round_seat> seats = {}; ///< that are taken, by index

  const round_seat* seat_of(consumer_id who) const noexcept {
    for (const auto& x : seats)
      if (x.who == who)
        return &x;
    return nullptr;
  }
  friend bool operator==(const round_view&, const round_view&) = default;
};

/// How far a reader of rounds is, as it says to its job.
struct round_progress {
  uint64_t round = 0;   ///< that its trainer is given next
  uint64_t answers = 0; ///< not zero: the proposed epoch for which it waits with that round
  friend bool operator==(const round_progress&, const round_progress&) = default;
};

} // namespace headrace
