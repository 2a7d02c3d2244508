#pragma once

#include <cstddef>

namespace headrace::detail::kernels {

/// Copies `n` bytes, with ASCII letters converted to upper or lower case. `out` may be `in`.
using ascii_fn = void (*)(char* out, const char* in, size_t n);
ascii_fn ascii_upper() noexcept;
ascii_fn ascii_lower() noexcept;

} // namespace headrace::detail::kernels
