#pragma once

#include "headrace/runtime/base/status.hpp"
#include "headrace/runtime/caf/port.hpp"

#include <exception>
#include <string_view>

HEADRACE_ERROR_ENUM(headrace::status_code, "headrace")

namespace headrace {

/// A status as the framework's error: what a handler returns and an actor ends with. Code and text
/// travel. Ok becomes no error.
caf::error to_error(const status& why);

/// Back again; of the framework's own errors the nearest code and a text: time-outs are
/// `deadline_exceeded`, a dead or unreachable actor `unavailable`, a kill `cancelled`.
status to_status(const caf::error& why);

#if !HEADRACE_CAF_LEGACY
bool from_string(std::string_view text, status_code& code);
bool from_integer(uint8_t number, status_code& code);
template <class Inspector>
bool inspect(Inspector& f, status_code& x) {
  return caf::default_enum_inspect(f, x);
}
#endif

} // namespace headrace
