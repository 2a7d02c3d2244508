#pragma once

#include "headrace/client/command/run/run_process.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"

namespace headrace::detail::command {

/// Waits until the other ranks have started, and the workers of all ranks have registered.
status await_ranks(run_process& self, time_point until);

} // namespace headrace::detail::command
