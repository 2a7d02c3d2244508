#pragma once

#include "headrace/client/service_status.hpp"

#include <string>

namespace headrace::command {

/// The output of `headrace status`: workers, jobs with their tasks and rates, the supervision tree.
std::string status_text(const service_status& x);
/// The same information as one JSON object, without a line end.
std::string status_json(const service_status& x);

} // namespace headrace::command
