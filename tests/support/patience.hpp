#pragma once

#include <chrono>

namespace headrace::test {

/// For what must happen, on a machine that is busy with other things.
inline constexpr auto patience = std::chrono::seconds{60};

} // namespace headrace::test
