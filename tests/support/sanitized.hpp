#pragma once

namespace headrace::detail::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/// True if the tests run under a sanitizer, whose own memory would count against limits of memory.
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

} // namespace headrace::detail::test
