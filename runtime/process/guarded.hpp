#pragma once

#include <csignal>
#include <functional>

namespace headrace::detail {

/// The signals that a process which runs a command passes on to the command: requests to stop
/// (SIGTERM, SIGINT, SIGHUP, SIGQUIT), and signals to which programs give a meaning of their own or
/// which inform them (SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGWINCH, SIGXCPU, those of real time
/// ...). Not among them: those that report a fault of the process itself, SIGPIPE, SIGCHLD, and
/// those that stop a process until SIGCONT.
sigset_t signals_of_a_command();

/// Runs `body` in a child process and returns its exit code (128 + signal for a signal). All
/// descendants of the child end with `body`: those that still run when `body` returns, or when this
/// process or the child is killed, are killed, too. Only if both are killed at once do they remain.
///
/// `signals_of_a_command` are blocked in the child. If this process is sent one of them, the child
/// can read its number, one byte, from the descriptor `signals`, which does not block. `on_killed`
/// is called in the process that remains when the other one was killed; may be empty.
/// @pre this process has one thread.
int run_guarded(const std::function<int(int signals)>& body,
                const std::function<void()>& on_killed = {});

/// Kills all descendants of this process and reaps them. This process must be the one that adopts
/// orphans (PR_SET_CHILD_SUBREAPER), as `run_guarded` makes it.
void kill_descendants();

} // namespace headrace::detail
