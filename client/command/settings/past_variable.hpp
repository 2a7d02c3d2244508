#pragma once

#include "headrace/runtime/base/process_past.hpp"

#include <string>

namespace headrace::detail::command {

/// The environment variable with the past of a process, as `NAME=value`. It is set by the process
/// that restarts that process.
std::string past_variable(const process_past& past);
/// The past of this process, as read from that variable; a default value if it is not set.
process_past past_of_this_process();

} // namespace headrace::detail::command
