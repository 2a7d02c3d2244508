#pragma once

#include "headrace/client/service_status.hpp"

#include <cstddef>
#include <string>

namespace headrace::command {

/// The screen of `headrace top`: why trainers wait, then for each running job its trainers, its
/// operators with a bar for where their time goes, and its tasks. No line is longer than `width`
/// columns, of which there are at least 40. `color`: with the colors of a terminal.
std::string top_text(const service_status& x, size_t width, bool color);

} // namespace headrace::command
