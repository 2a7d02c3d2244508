#pragma once

#include <functional>

namespace headrace {

/// Runs `body` in a child process and returns its exit code (128 + signal for a signal). What
/// `body` starts, and what that starts, ends with it: whatever still runs when it returns, or when
/// this process or the child is killed, is killed, too. Only if both are killed at once do
/// grandchildren remain.
///
/// SIGTERM, SIGINT and SIGHUP are forwarded to the child, which has them blocked. `on_killed` is
/// called in the process that remains when the other one was killed; may be empty.
/// @pre this process has one thread.
int run_guarded(const std::function<int()>& body, const std::function<void()>& on_killed = {});

/// Kills all descendants of this process and reaps them. It must be the one to which they fall
/// (PR_SET_CHILD_SUBREAPER), as `run_guarded` makes it.
void kill_descendants();

} // namespace headrace
