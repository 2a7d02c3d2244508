#pragma once

#include "headrace/client/service_status.hpp"

#include <string>

namespace headrace::detail::command {

/// The output of `headrace status`: workers, jobs with their tasks and rates, the supervision tree.
std::string status_text(const service_status& x);
/// 1234567 as `1.23M`.
std::string short_number(double x);
/// The verdicts on why trainers wait: one line for each job whose verdict is known.
std::string verdicts_text(const service_status& x);

} // namespace headrace::detail::command
