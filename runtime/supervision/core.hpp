#pragma once

#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/supervision/snapshot.hpp"

#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headrace::detail {

namespace supervise {

/// Start a child. `run` is the number of its life.
struct start {
  std::string id;
  uint64_t run = 0;
};
/// Request a child to end.
struct stop {
  std::string id;
  uint64_t run = 0;
};
/// Kill a child that did not end within its `shutdown` time after the request.
struct kill {
  std::string id;
  uint64_t run = 0;
};
/// Do not wait any longer for a child that did not end when it was killed.
struct abandon {
  std::string id;
  uint64_t run = 0;
};
/// Call `timer(epoch)` at this time. Calls for earlier epochs are void.
struct schedule {
  time_point at;
  uint64_t epoch = 0;
};
/// A child with a budget of its own has exceeded it, and is removed. `why` has the chain of causes.
struct drop {
  std::string id;
  status why;
};
/// All children have ended, as requested.
struct stopped {};
/// All children have ended, because the supervisor cannot keep them running. `why` has the chain of
/// causes.
struct give_up {
  status why;
};

using command = std::variant<start, stop, kill, abandon, schedule, drop, stopped, give_up>;
using commands = std::vector<command>;

} // namespace supervise

/// Makes the decisions of a supervisor: it is given events with the time, and returns commands. It
/// uses no actor and no clock.
///
/// Children start in the order in which they were added and stop one after the other in reverse
/// order, each within its `shutdown` time. A commanded start counts as done; a start that fails is
/// reported as the end of that life.
class supervision_core {
public:
  using commands = supervise::commands;

  explicit supervision_core(supervision_options options);

  /// Adds a child and starts it. `already_exists`: a child that has not ended for good has the id.
  /// `failed_precondition`: the supervisor is stopping.
  result<commands> add(child_spec spec, time_point now);
  /// Stops a child and removes it. Does nothing if there is no such child.
  commands remove(const std::string& id, time_point now);
  /// To be called when life `run` of a child has ended; `why` is ok for a normal end. Ends of
  /// earlier lives are ignored.
  commands exited(const std::string& id, uint64_t run, const status& why, time_point now);
  /// To be called at the time of each `schedule`. A call with an earlier epoch is ignored.
  commands timer(uint64_t epoch, time_point now);
  /// Stops all children in reverse order; the last command is then `stopped`.
  commands stop(time_point now);

  bool stopping() const noexcept { return ending_ != ending::no; }
  /// True if `stopped` or `give_up` was commanded.
  bool over() const noexcept { return ending_ == ending::over; }
  supervisor_snapshot snapshot() const;

private:
  enum class phase : uint8_t { waiting, running, stopping, killed, ended };
  enum class ending : uint8_t { no, asked, failed, over };

  struct child {
    child_spec spec;
    detail::backoff backoff;
    phase state = phase::waiting;
    uint64_t run = 0;
    uint64_t restarts = 0;
    time_point started{};
    time_point ready{};    ///< while the child waits: when to start it
    time_point deadline{}; ///< while the child stops or was killed: the end of the wait for it
    std::string last_reason{};
    bool recycle = false; ///< the child is stopped in order to be restarted with others
    bool remove = false;
    std::deque<time_point> own_restarts{}; ///< the restarts within the time of its own budget

    bool alive() const noexcept {
      return state == phase::running || state == phase::stopping || state == phase::killed;
    }
  };

  child* find(const std::string& id) noexcept;
  void ended(size_t index, const status& why, time_point now);
  void restart(size_t index, const status& why, time_point now);
  void fail(const child& who, const status& why);
  /// The error for a child that exceeded the budget.
  status too_often(const child& who, const restart_budget& budget, const status& why) const;
  /// Returns the commands that are due in the present state.
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
  commands dropped_; ///< commands that are returned with the next commands
  std::optional<time_point> scheduled_;
  uint64_t epoch_ = 0;
};

} // namespace headrace::detail
