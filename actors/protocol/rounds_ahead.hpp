#pragma once

#include <cstdint>

namespace headrace::detail {

/// In coordinated reads: the most rounds that one task may send ahead to a consumer that has not
/// set another bound (`max_outstanding_requests`).
constexpr uint64_t most_rounds_ahead = 1024;

} // namespace headrace::detail
