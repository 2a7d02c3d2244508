#pragma once

#include "headrace/client/command/run/run_process.hpp"
#include "headrace/client/service_status.hpp"

#include <functional>

namespace headrace::detail::command {

/// Drains the workers for which `which` returns true, all at the same time.
void drain_workers(run_process& self, const std::function<bool(const worker_status&)>& which);

} // namespace headrace::detail::command
