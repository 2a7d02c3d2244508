#pragma once

#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/message/types.hpp"
#include "headrace/runtime/supervision/supervisor.hpp"

#include <functional>
#include <string>

namespace headrace::detail {

/// The settings of the root of a process's supervision tree.
struct node_supervisor_options {
  std::string child; ///< `dispatcher` or `worker`
  /// Starts the role's actor, at its place in the tree.
  std::function<published_actor(const tree_place&)> start;
  /// Called when the role's actor has crashed too often and is not started again: the process
  /// should end. May be empty.
  std::function<void(const status&)> gave_up;
  duration shutdown = std::chrono::seconds{5}; ///< how long the role's actor may take to end
  logger log;
};

/// Supervises a dispatcher or a worker. It can be published in place of the role's actor: it passes
/// messages on to the present actor, so that peers need no other address after a restart.
class node_supervisor_state {
public:
  using handle_type =
    port::handle<caf::result<envelope>(envelope), caf::result<void>(atom::supervise, uint64_t)>;
  static inline const char* name = "headrace.node";

  node_supervisor_state(port::self_pointer<handle_type> self, node_supervisor_options options);
  port::behavior<handle_type> make_behavior();

private:
  port::self_pointer<handle_type> self_;
  /// A reference to the actor itself, so that it is not destroyed before it ends.
  handle_type alive_;
  node_supervisor_options options_;
  port::watcher watcher_;
  tree_place place_;
  supervisor team_;
};

} // namespace headrace::detail
