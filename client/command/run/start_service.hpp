#pragma once

#include "headrace/client/command/run/run_process.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"

namespace headrace::detail::command {

/// To be called in the process of rank 0. Starts the run's dispatcher, records its address in the
/// run's directory if there is one, and sets in `self` the addresses (`service`, `local`) and the
/// `token`. `already_exists`: another run has a service in that directory or at that address.
status start_service(run_process& self, time_point until);

} // namespace headrace::detail::command
