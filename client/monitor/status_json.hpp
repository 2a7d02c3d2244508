#pragma once

#include "headrace/client/service_status.hpp"

#include <string>

namespace headrace::detail::monitor {

/// The status as one JSON object, with a verdict for each job. Text that is not UTF-8 is replaced.
std::string status_json(const service_status& x);

} // namespace headrace::detail::monitor
