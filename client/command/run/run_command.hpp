#pragma once

#include "headrace/client/command/run/run_process.hpp"

namespace headrace::detail::command {

/// Runs the command of the process, and returns its exit code. The command is stopped if the
/// service is lost: then `stopped_because` is set.
int run_command(run_process& self);

} // namespace headrace::detail::command
