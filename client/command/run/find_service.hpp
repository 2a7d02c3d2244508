#pragma once

#include "headrace/client/command/run/run_process.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"

namespace headrace::detail::command {

/// To be called in all processes except that of rank 0. Waits until the dispatcher of rank 0
/// answers. Sets in `self` the dispatcher's address (`service`, `local`) and, if the run has a
/// directory, the run's `token`; if the process has no rank, also the `directory` of the run.
status find_service(run_process& self, time_point until);

} // namespace headrace::detail::command
