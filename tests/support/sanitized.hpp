#pragma once

namespace headrace::detail::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/// A sanitizer uses additional memory, which would count against limits and bounds of memory.
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

} // namespace headrace::detail::test
