#pragma once

#include "headrace/client/command/run/run_process.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"

namespace headrace::detail::command {

/// For rank 0: starts the dispatcher of the run, records its address in the directory if there is
/// one, and sets `service`, `local` and `token`. `already_exists`: another run has a service in
/// that directory or at that address.
status start_service(run_process& self, time_point until);

} // namespace headrace::detail::command
