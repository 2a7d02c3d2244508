#pragma once

#include "headrace/runtime/base/process_past.hpp"

#include <string>

namespace headrace::command {

/// How a process that starts servers again tells them of their past: `NAME=value` for their
/// environment.
std::string past_variable(const process_past& past);
/// What this process was told so. Nothing: it has no past.
process_past past_of_this_process();

} // namespace headrace::command
