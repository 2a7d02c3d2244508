#pragma once

#include "headrace/actors/protocol/round_epoch.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace headrace {

/// In which order a consumer of coordinated reads takes rows from its tasks, and how far it may go:
/// through the rounds of which all consumers have received their rows, so that none hands out a
/// round that another one cannot get. Pure.
class round_order {
public:
  /// A newer epoch than the last one begins, of which the consumers agreed. All rounds before its
  /// first have been received by all of them. The first call: this consumer begins there.
  void begin(round_epoch next);
  /// All consumers that are in that epoch have received so many groups of the task.
  void received_by_all(task_id task, uint64_t epoch, uint64_t groups);
  /// Hands out nothing until the next epoch begins.
  void freeze() { frozen_ = true; }

  /// Whose rows are next, and how many in a row at most; nullopt: none may be handed out yet.
  struct turn {
    task_id from;
    uint64_t rows = 0;
  };
  std::optional<turn> next() const;
  /// So many rows of that turn were handed out.
  void taken(uint64_t rows);

  /// The newest epoch's number; 0: there is none yet.
  uint64_t epoch() const noexcept { return epochs_.empty() ? 0 : epochs_.back().number; }
  /// The next to be handed out.
  uint64_t round() const noexcept { return round_; }
  /// Rows of the task may be handed out yet, now or later.
  bool serves(task_id task) const;

private:
  std::deque<round_epoch> epochs_;     ///< that of `round_`, and later ones
  std::map<task_id, uint64_t> common_; ///< groups that all have received, in the newest epoch
  uint64_t round_ = 0;
  bool frozen_ = false;
};

} // namespace headrace
