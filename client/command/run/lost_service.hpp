#pragma once

#include "headrace/client/command/run/run_process.hpp"

#include <string>

namespace headrace::detail::command {

/// The reason why this process no longer has a service; empty if it has one.
std::string why_lost(const run_process& self);

} // namespace headrace::detail::command
