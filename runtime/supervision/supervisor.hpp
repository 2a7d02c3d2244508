#pragma once

#include "headrace/runtime/caf/error.hpp"
#include "headrace/runtime/caf/watcher.hpp"
#include "headrace/runtime/supervision/board.hpp"
#include "headrace/runtime/supervision/core.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace headrace::detail {

/// The place of a supervisor in its process's tree.
struct tree_place {
  std::shared_ptr<supervision_board> board; ///< may be null
  std::string path;

  /// The place of child `id`.
  tree_place below(const std::string& id) const { return {board, path + "/" + id}; }
};

/// Keeps the children of an actor running, as a member of the actor's state. It carries out the
/// decisions of a supervision_core.
///
/// The owner's interface has `caf::result<void>(atom::supervise, uint64_t)`, whose handler calls
/// `timer(epoch)`. The supervisor uses the owner's watcher. When the owner ends, its children end,
/// too.
class supervisor {
public:
  /// Starts a child. `run` is the number of its life, counted over all children of this supervisor.
  using start_child = std::function<result<caf::actor>(uint64_t run)>;

  /// Callbacks for the owner; each may be empty. They must not destroy the supervisor.
  struct observer {
    /// A child runs, for the first time or after a restart, with a new handle.
    std::function<void(const std::string& id, const caf::actor& child)> started;
    /// A child ended; ok: normally. Called before a restart.
    std::function<void(const std::string& id, const status& why)> ended;
    /// There were too many restarts: all children have ended. If the callback is empty, the owner
    /// ends with this reason, so that its own supervisor gets the chain of causes.
    std::function<void(const status& why)> gave_up;
    /// A child exceeded its own budget and is removed. Called after `ended` for its last end.
    std::function<void(const std::string& id, const status& why)> dropped;
  };

  /// `board` may be null.
  supervisor(caf::scheduled_actor* self, port::watcher& watcher, supervision_options options,
             observer observer = {}, std::shared_ptr<supervision_board> board = {});
  /// Requests the children to end, and waits for none of them.
  ~supervisor();
  supervisor(const supervisor&) = delete;
  supervisor& operator=(const supervisor&) = delete;

  /// Adds a child and starts it at once. If the first start fails, the child is restarted as after
  /// a later failure.
  status add(child_spec spec, start_child start);
  /// Stops a child and removes it. Does nothing if there is no such child.
  void remove(const std::string& id);
  /// Stops all children in reverse order, each within its `shutdown` time, then calls `done`.
  void stop(std::function<void()> done);
  /// From now on, if the owner is requested to end, its children are stopped first, as by `stop`.
  /// Before they are stopped, `first` is called, if it is set; it must call its argument when it is
  /// done. If the owner is requested to end again before that call, `first` is called again, with
  /// an equivalent argument.
  void stop_before_owner(std::function<void(std::function<void()> stop)> first = {});
  /// To be called for the message (atom::supervise, epoch).
  void timer(uint64_t epoch);

  /// The child's present handle; null while the child does not run. The handle changes with each
  /// restart: call this again, or observe `started`.
  caf::actor find(const std::string& id) const;
  template <class Handle>
  Handle find(const std::string& id) const {
    return caf::actor_cast<Handle>(find(id));
  }
  supervisor_snapshot snapshot() const { return core_.snapshot(); }

private:
  struct life {
    start_child start;
    caf::actor actor;
    uint64_t run = 0;
    port::watcher::token watch = 0;
  };

  time_point now() const;
  void carry_out(supervise::commands commands);
  void carry_out(const supervise::start& x);
  void carry_out(const supervise::stop& x);
  void carry_out(const supervise::kill& x);
  void carry_out(const supervise::abandon& x);
  void carry_out(const supervise::schedule& x);
  void carry_out(const supervise::drop& x);
  void carry_out(const supervise::stopped& x);
  void carry_out(const supervise::give_up& x);
  void on_down(const std::string& id, uint64_t run, const status& why);
  life* running(const std::string& id, uint64_t run);

  caf::scheduled_actor* self_;
  port::watcher& watcher_;
  supervision_core core_;
  observer observer_;
  std::shared_ptr<supervision_board> board_;
  std::string path_;
  std::map<std::string, life> lives_;
  std::deque<supervise::command> pending_;
  bool busy_ = false;
  bool owner_ends_ = false;
  /// `first` of `stop_before_owner` was called and has not called its argument.
  bool waits_for_first_ = false;
  std::function<void()> done_;
};

} // namespace headrace::detail
