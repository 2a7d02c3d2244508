#pragma once

#include "headrace/runtime/base/status.hpp"
#include "headrace/runtime/caf/port.hpp"

#include <exception>

HEADRACE_ERROR_ENUM(headrace::status_code, "headrace")

namespace headrace {

/// Converts a status to an error of the framework, which a handler can return and with which an
/// actor can end. The error contains the code and the text; ok results in an empty error.
caf::error to_error(const status& why);

/// The reverse of `to_error`. An error of the framework itself results in the nearest code with a
/// text: a time-out is `deadline_exceeded`, an actor that has ended or cannot be reached is
/// `unavailable`, a kill is `cancelled`.
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
