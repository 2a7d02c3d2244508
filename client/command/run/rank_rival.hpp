#pragma once

#include "headrace/client/command/run/run_process.hpp"
#include "headrace/client/command/run/run_ranks.hpp"
#include "headrace/client/service_status.hpp"
#include "headrace/runtime/base/result.hpp"

namespace headrace::detail::command {

/// The rival, another process with the same rank, as found by its workers in the status `now`
/// (`rival_of`). None if the processes meet in a directory: there, the records show such a process.
rival rival_in(const run_process& self, const service_status& now);
/// The error for a process whose rank is also that of the rival `by`.
status rank_is_taken(const run_process& self, const rival& by);

} // namespace headrace::detail::command
