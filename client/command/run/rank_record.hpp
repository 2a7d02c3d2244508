#pragma once

#include "headrace/client/command/run/run_on_node.hpp"
#include "headrace/client/command/run/run_process.hpp"
#include "headrace/runtime/base/result.hpp"

#include <string>

namespace headrace::detail::command {

/// Records in the run's directory that this process has its rank; fails if another process has the
/// rank. This and the functions below do nothing if the process has no rank or no directory.
status claim_rank(const run_process& self);
/// Records the progress of the rank. An error is printed.
void note_rank(const run_process& self, const std::string& state);
/// Records that the rank has ended. There are two processes, the child that runs the command and
/// its guarding parent (`run_guarded`): when one of them is killed, this function is called in the
/// other. `process`: the random number that identifies both.
void note_rank_killed(const run_options& options, const std::string& process);

} // namespace headrace::detail::command
