#pragma once

#include "headrace/client/command/run/run_process.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"

namespace headrace::detail::command {

/// To be called in all processes except that of rank 0. Waits until the dispatcher of rank 0
/// answers, and sets `service`, `local` and, if there is a directory, `token`. If the process has
/// no rank, sets `directory` to that of the run to which the process adds its workers.
status find_service(run_process& self, time_point until);

} // namespace headrace::detail::command
