#pragma once

#include "headrace/runtime/base/process_past.hpp"

#include <string>

namespace headrace::detail::command {

/// An environment variable, as `NAME=value`, by which the parent of a restarted process passes
/// `past` to that process: the number of restarts, and how the previous process ended.
std::string past_variable(const process_past& past);
/// Reads that variable in this process. If the variable is not set, the result has no restarts.
process_past past_of_this_process();

} // namespace headrace::detail::command
