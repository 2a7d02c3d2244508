#pragma once

#include "headrace/actors/protocol/reader_marks.hpp"
#include "headrace/actors/store/record_codec.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <variant>
#include <vector>

namespace headrace::detail {

/// The rows that readers of a shared repetition have received from tasks that are over, and have
/// not handed out: no other process has them. While there are such rows, the repetition is not
/// finished, so that its last readers get a report of the rows that were lost with other readers.
///
/// Pure: it changes only by facts, and the same facts make the same state.
class held_rows {
public:
  // -- facts --------------------------------------------------------------------

  /// The task is over or lost. `readers`: how many elements of the task's stream each reader has
  /// received and handed out. A reader that has handed out everything is ignored.
  struct task_over {
    task_id task;
    std::map<consumer_id, reader_marks> readers;
    friend bool operator==(const task_over&, const task_over&) = default;
  };
  /// A reader has handed out this many elements of the task's stream.
  struct handed_out {
    task_id task;
    consumer_id who;
    uint64_t elements = 0;
    friend bool operator==(const handed_out&, const handed_out&) = default;
  };
  /// A reader is gone: the rows that it still holds are lost.
  struct reader_gone {
    consumer_id who;
    friend bool operator==(const reader_gone&, const reader_gone&) = default;
  };
  using fact = std::variant<task_over, handed_out, reader_gone>;
  void apply(const fact& what);

  // -- state ----------------------------------------------------------------------

  bool empty() const noexcept { return held_.empty(); }
  /// The tasks of which some reader holds rows.
  std::vector<task_id> tasks() const;
  /// True if a reader holds rows of that task.
  bool holds(task_id task) const { return held_.contains(task); }
  /// The tasks of which that reader holds rows.
  std::vector<task_id> tasks_of(consumer_id who) const;
  /// How many elements of the task's stream that reader has received and handed out; nullptr if the
  /// reader holds no rows of the task.
  const reader_marks* find(task_id task, consumer_id who) const;
  /// The number of elements that were lost with readers; an upper bound.
  uint64_t lost() const noexcept { return lost_; }

  friend bool operator==(const held_rows&, const held_rows&) = default;

private:
  friend struct state_codec<held_rows>;
  void on(const task_over& x);
  void on(const handed_out& x);
  void on(const reader_gone& x);

  std::map<task_id, std::map<consumer_id, reader_marks>> held_;
  uint64_t lost_ = 0;
};

} // namespace headrace::detail
