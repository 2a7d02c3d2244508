#pragma once

#include "headrace/client/command/run/run_process.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"

namespace headrace::detail::command {

/// For all processes but that of rank 0: waits until the dispatcher of rank 0 answers, and sets
/// `service`, `local` and, by the directory, `token`. For a process without a rank, `directory` is
/// then that of the run to which it adds its workers.
status find_service(run_process& self, time_point until);

} // namespace headrace::detail::command
