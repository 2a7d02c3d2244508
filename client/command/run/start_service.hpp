#pragma once

#include "headrace/client/command/run/run_process.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"

namespace headrace::detail::command {

/// To be called in the process of rank 0. Starts the dispatcher of the run, records its address in
/// the directory if there is one, and sets `service`, `local` and `token`. The error
/// `already_exists` means that another run has a service in that directory or at that address.
status start_service(run_process& self, time_point until);

} // namespace headrace::detail::command
