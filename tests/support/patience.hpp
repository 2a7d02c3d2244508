#pragma once

#include <chrono>

namespace headrace::detail::test {

/// The time limit for waits that must succeed, even on a machine that is busy with other work.
inline constexpr auto patience = std::chrono::seconds{60};

} // namespace headrace::detail::test
