#pragma once

#include "headrace/client/service_status.hpp"

#include <cstddef>
#include <string>

namespace headrace::detail::command {

/// The screen of `headrace top`: the verdicts on why trainers wait, then for each running job its
/// trainers, its operators with bars for the shares of their time, and its tasks. No line is longer
/// than `width` columns (at least 40). `color`: with the colors of a terminal.
std::string top_text(const service_status& x, size_t width, bool color);

} // namespace headrace::detail::command
