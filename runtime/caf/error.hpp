#pragma once

#include "headrace/runtime/base/status.hpp"
#include "headrace/runtime/caf/port.hpp"

#include <exception>

HEADRACE_ERROR_ENUM(headrace::status_code, "headrace")

namespace headrace {

/// A status as the framework's error: what a handler returns and an actor ends with. Code and text
/// travel. Ok becomes no error.
caf::error to_error(const status& why);

/// The reverse of `to_error`. Errors of the framework itself become the nearest code with a text:
/// time-outs are `deadline_exceeded`, a dead or unreachable actor is `unavailable`, a kill is
/// `cancelled`.
status to_status(const caf::error& why);

#if !HEADRACE_CAF_LEGACY
template <class Inspector>
bool inspect(Inspector& f, status_code& x) {
  auto get = [&] { return static_cast<uint8_t>(x); };
  auto set = [&](uint8_t number) {
    x = number <= static_cast<uint8_t>(status_code::unauthenticated)
          ? static_cast<status_code>(number)
          : status_code::unknown;
    return true;
  };
  return f.apply(get, set);
}
#endif

} // namespace headrace
