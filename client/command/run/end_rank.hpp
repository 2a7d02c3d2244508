#pragma once

#include "headrace/client/command/run/run_process.hpp"
#include "headrace/runtime/base/result.hpp"

namespace headrace::detail::command {

/// After the command has succeeded: drains the workers of this process, once no other command needs
/// them. For rank 0: waits for the ends of the other ranks, and drains all workers.
status end_rank(run_process& self);

} // namespace headrace::detail::command
