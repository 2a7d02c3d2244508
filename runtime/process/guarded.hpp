#pragma once

#include <csignal>
#include <functional>

namespace headrace::detail {

/// The signals that a process which runs a command passes on to the command: requests to stop
/// (SIGTERM, SIGINT, SIGHUP, SIGQUIT), and signals that programs use for purposes of their own or
/// that report events (SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGWINCH, SIGXCPU, real-time signals
/// ...). Signals that report a fault of the process itself, SIGPIPE, SIGCHLD, and signals that stop
/// a process until SIGCONT are not passed on.
sigset_t signals_of_a_command();

/// Runs `body` in a child process and returns its exit code (128 + signal for a signal). All
/// descendants of the child end with `body`: those that still run when `body` returns, or when this
/// process or the child is killed, are killed, too. They remain only if this process and the child
/// are killed at the same time, or if this process is killed and the system has no pidfds.
///
/// `signals_of_a_command` are blocked in the child. If this process is sent one of them, the child
/// can read its number, one byte, from the descriptor `signals`, which does not block. `on_killed`
/// is called in this process if the child was killed, and in the child if this process was killed;
/// may be empty. @pre this process has one thread.
int run_guarded(const std::function<int(int signals)>& body,
                const std::function<void()>& on_killed = {});

/// Kills all descendants of this process and reaps them. This process must adopt orphans
/// (PR_SET_CHILD_SUBREAPER); `run_guarded` sets this for the calling process and for the child.
void kill_descendants();

} // namespace headrace::detail
