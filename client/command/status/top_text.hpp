#pragma once

#include "headrace/client/service_status.hpp"

#include <cstddef>
#include <string>

namespace headrace::detail::command {

/// The screen of `headrace top`: for each running job the verdict on why its trainers wait, its
/// trainers, its operators with bars for the shares of their time, and its tasks. Except for the
/// legend of the bars, no line is longer than `width` columns, or 60 if `width` is less. `color`:
/// with the colors of a terminal.
std::string top_text(const service_status& x, size_t width, bool color);

} // namespace headrace::detail::command
