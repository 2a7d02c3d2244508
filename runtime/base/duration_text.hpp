#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <string>

namespace headrace::detail {

/// A duration for messages, without trailing zeros: "2.5 s", "250 ms".
std::string seconds_text(duration x);
std::string milliseconds_text(duration x);

} // namespace headrace::detail
