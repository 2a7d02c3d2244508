#pragma once

#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/supervision/snapshot.hpp"

#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headrace {

namespace supervise {

/// Run a child anew, as its `run`th life.
struct start {
  std::string id;
  uint64_t run = 0;
};
/// Ask a child to end.
struct stop {
  std::string id;
  uint64_t run = 0;
};
/// End it without asking.
struct kill {
  std::string id;
  uint64_t run = 0;
};
/// Wait for it no longer.
struct abandon {
  std::string id;
  uint64_t run = 0;
};
/// Call `timer(epoch)` at this time. Earlier epochs are void.
struct schedule {
  time_point at;
  uint64_t epoch = 0;
};
/// A child with a budget of its own went past it and is forgotten. `why` has the chain of causes.
struct drop {
  std::string id;
  status why;
};
/// All children have ended, as asked.
struct stopped {};
/// All children have ended, because the supervisor cannot keep them alive. `why` has the chain of
/// causes.
struct give_up {
  status why;
};

using command = std::variant<start, stop, kill, abandon, schedule, drop, stopped, give_up>;
using commands = std::vector<command>;

} // namespace supervise

/// What a supervisor decides: events and the time go in, commands come out. Knows no actor and no
/// clock.
///
/// Children start in the order in which they were added and stop one after the other in reverse
/// order, each within its budget. Starts are taken as done when commanded; a start that fails is a
/// child that ended.
class supervision_core {
public:
  using commands = supervise::commands;

  explicit supervision_core(supervision_options options);

  /// Adds a child and starts it. Already exists: the id is in use. Failed precondition: it is
  /// stopping.
  result<commands> add(child_spec spec, time_point now);
  /// Stops a child and forgets it. Nothing if there is none.
  commands remove(const std::string& id, time_point now);
  /// Life `run` of a child is over; `why` is ok for a normal end. An old life's end is ignored.
  commands exited(const std::string& id, uint64_t run, const status& why, time_point now);
  /// The last scheduled time has come. Older epochs are ignored.
  commands timer(uint64_t epoch, time_point now);
  /// Stops all children in reverse order; ends with `stopped`.
  commands stop(time_point now);

  bool stopping() const noexcept { return ending_ != ending::no; }
  /// `stopped` or `give_up` was commanded.
  bool over() const noexcept { return ending_ == ending::over; }
  supervisor_snapshot snapshot() const;
  /// The life of a running (or stopping) child; 0 if there is none.
  uint64_t run_of(const std::string& id) const noexcept;

private:
  enum class phase : uint8_t { waiting, running, stopping, killed, ended };
  enum class ending : uint8_t { no, asked, failed, over };

  struct child {
    child_spec spec;
    headrace::backoff backoff;
    phase state = phase::waiting;
    uint64_t run = 0;
    uint64_t restarts = 0;
    time_point started{};
    time_point ready{};    ///< waiting: when to start
    time_point deadline{}; ///< stopping, killed: when patience ends
    std::string last_reason{};
    bool recycle = false; ///< stopped to be started again together with others
    bool remove = false;
    std::deque<time_point> own_restarts{}; ///< those within its own budget's time

    bool alive() const noexcept {
      return state == phase::running || state == phase::stopping || state == phase::killed;
    }
  };

  child* find(const std::string& id) noexcept;
  void ended(size_t index, const status& why, time_point now);
  void restart(size_t index, const status& why, time_point now);
  void fail(const child& who, const status& why);
  /// The budget is spent by `who`.
  status too_often(const child& who, const restart_budget& budget, const status& why) const;
  /// Issues whatever is due in the present state.
  commands advance(time_point now);
  void advance_stops(time_point now, commands& out);
  void advance_starts(time_point now, commands& out);
  void advance_timer(commands& out);

  supervision_options options_;
  std::vector<child> children_;
  std::deque<time_point> restarts_;
  uint64_t last_run_ = 0;
  uint64_t total_restarts_ = 0;
  uint64_t abandoned_ = 0;
  ending ending_ = ending::no;
  status cause_;
  commands dropped_; ///< to be issued next
  std::optional<time_point> scheduled_;
  uint64_t epoch_ = 0;
};

} // namespace headrace
