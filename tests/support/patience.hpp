#pragma once

#include <chrono>

namespace headrace::detail::test {

/// The limit for waits that must succeed, on a machine that is busy with other work.
inline constexpr auto patience = std::chrono::seconds{60};

} // namespace headrace::detail::test
