#pragma once

#include "headrace/runtime/base/status.hpp"

#include <cstdint>

namespace headrace::detail {

/// The code of a failure that a peer sent as a number. A number that this build does not define,
/// and zero (ok, which is not a failure), result in `unknown`.
constexpr status_code status_code_of(uint16_t wire) noexcept {
  constexpr auto last = static_cast<uint16_t>(status_code::unauthenticated);
  return wire == 0 || wire > last ? status_code::unknown : static_cast<status_code>(wire);
}

} // namespace headrace::detail
