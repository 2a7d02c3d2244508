#pragma once

#include "headrace/client/command/run/run_process.hpp"
#include "headrace/runtime/base/result.hpp"

namespace headrace::detail::command {

/// To be called after the command has succeeded. Drains the workers of this process when no other
/// command needs them. Rank 0 waits until the other ranks have ended, and drains all workers.
status end_rank(run_process& self);

} // namespace headrace::detail::command
