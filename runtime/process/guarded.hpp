#pragma once

#include <csignal>
#include <functional>

namespace headrace::detail {

/// The signals that are meant for the command which a process runs, if that is sent them: those
/// that ask it to stop (SIGTERM, SIGINT, SIGHUP, SIGQUIT), and those that programs give a meaning
/// of their own or that inform them (SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGWINCH, SIGXCPU, those
/// of real time ...). Not among them: those that report a fault of the process itself, SIGPIPE,
/// SIGCHLD, and those that stop a process until SIGCONT.
sigset_t signals_of_a_command();

/// Runs `body` in a child process and returns its exit code (128 + signal for a signal). What
/// `body` starts, and what that starts, ends with it: whatever still runs when it returns, or when
/// this process or the child is killed, is killed, too. Only if both are killed at once do
/// grandchildren remain.
///
/// `signals_of_a_command` are blocked in the child. Those that this process is sent it can read
/// from the descriptor `signals`: the number of each, in a byte, without blocking. `on_killed` is
/// called in the process that remains when the other one was killed; may be empty.
/// @pre this process has one thread.
int run_guarded(const std::function<int(int signals)>& body,
                const std::function<void()>& on_killed = {});

/// Kills all descendants of this process and reaps them. This process must be the one that adopts
/// orphans (PR_SET_CHILD_SUBREAPER), as `run_guarded` makes it.
void kill_descendants();

} // namespace headrace::detail
