#pragma once

#include "headrace/pipeline/iterator/ports.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <cstdint>
#include <variant>
#include <vector>

/// What happens to the splits of one repetition of a job. The assigner decides by emitting these;
/// its state is what they add up to, so that a journal of them is enough to recover it.
namespace headrace::splits {

/// A task takes part.
struct task_joined {
  task_id task;
  incarnation life;
};
/// Its runner starts over in a new life: it replays its log.
struct task_restarted {
  task_id task;
  incarnation life;
};
/// It is over; whatever it had unread was returned or lost by other events before.
struct task_left {
  task_id task;
};
/// It may be given splits (some stream of it is open and has credit), or may not.
struct task_readiness {
  task_id task;
  bool ready = false;
};
/// A source has `total` splits in this pass.
struct total_known {
  uint32_t source = 0;
  uint64_t pass = 0;
  uint64_t total = 0;
};
/// A task asked for more of this and waits.
struct wanted {
  task_id task;
  uint32_t source = 0;
  uint64_t pass = 0;
};
/// To be told to the task: all sources of `group` may read `range` next. `start`: how many splits
/// of this group and pass the task had before, so that both sides notice when a lease and a return
/// crossed.
struct leased {
  task_id task;
  uint32_t group = 0;
  uint64_t pass = 0;
  uint64_t start = 0;
  split_range range;
};
/// The task's source has read so many splits of this pass, in the order of its leases.
struct read {
  task_id task;
  uint32_t source = 0;
  uint64_t pass = 0;
  uint64_t count = 0;
};
/// The task may have begun to read so many of the group's splits; those above can still be
/// returned.
struct started {
  task_id task;
  uint32_t group = 0;
  uint64_t pass = 0;
  uint64_t count = 0;
};
/// Everything made of the group's first `count` splits was handed out.
struct done {
  task_id task;
  uint32_t group = 0;
  uint64_t pass = 0;
  uint64_t count = 0;
};
/// To be told to the task: asked to return unread splits because another one waits for some.
struct asked_back {
  task_id task;
  uint32_t group = 0;
  uint64_t pass = 0;
  bool all = false; ///< else half
};
/// To be told to the task: its return holds, it keeps the first `keep` splits.
struct returned {
  task_id task;
  uint32_t group = 0;
  uint64_t pass = 0;
  uint64_t keep = 0;
};
/// To be told to the task: this pass of the group's sources is over for it.
struct pass_over {
  task_id task;
  uint32_t group = 0;
  uint64_t pass = 0;
};
/// Taken from a lost task's log from position `from` on: `requeued` goes to others, else it is
/// lost.
struct taken_from_lost {
  task_id task;
  uint32_t group = 0;
  uint64_t pass = 0;
  uint64_t from = 0;
  uint64_t to = 0;
  bool requeued = false;
};

using event = std::variant<task_joined, task_restarted, task_left, task_readiness, total_known,
                           wanted, leased, read, started, done, asked_back, returned, pass_over,
                           taken_from_lost>;
using events = std::vector<event>;

/// One entry of a task's split log: a range, or the end of the pass.
struct log_entry {
  uint32_t group = 0;
  uint64_t pass = 0;
  split_range range; ///< count 0: the pass is over
  friend bool operator==(const log_entry&, const log_entry&) = default;
};

} // namespace headrace::splits
