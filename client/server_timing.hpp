#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <optional>

namespace headrace {

/// How often those that hold a lease of this length are to speak: as `asked`, or each second, and
/// at least four times a lease. Throws `error` (invalid_argument) if a lease has not room for two,
/// as one late message would end it.
duration heartbeat_for(std::optional<duration> asked, duration lease);

} // namespace headrace
