#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/message/envelope.hpp"

#include <string>

namespace headrace::service {

/// Asks a dispatcher and waits for the answer. Errors name the address, or are the dispatcher's
/// own.
result<envelope> call(const std::string& dispatcher, duration limit, const envelope& what);

} // namespace headrace::service
