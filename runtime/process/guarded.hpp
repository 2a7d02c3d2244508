#pragma once

#include <functional>

namespace headrace {

/// Runs `body` in a child process and returns its exit code (128 + signal for a signal). Processes
/// that `body` starts, and their descendants, end with it: those that still run when it returns, or
/// when this process or the child is killed, are killed, too. Only if both are killed at once do
/// grandchildren remain.
///
/// SIGTERM, SIGINT and SIGHUP are forwarded to the child, in which they are blocked. `on_killed` is
/// called in the process that remains when the other one was killed; may be empty. @pre this
/// process has one thread.
int run_guarded(const std::function<int()>& body, const std::function<void()>& on_killed = {});

/// Kills all descendants of this process and reaps them. This process must be the one that adopts
/// orphans (PR_SET_CHILD_SUBREAPER), as `run_guarded` makes it.
void kill_descendants();

} // namespace headrace
