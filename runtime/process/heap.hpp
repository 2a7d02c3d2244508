#pragma once

namespace headrace::detail {

/// Makes the C library return pieces of memory of 1 MiB or more to the system as soon as they are
/// freed. By default, when such a piece of up to 32 MiB is freed, the library raises the bound to
/// its size, and later pieces below the bound leave holes in the heap, which the process keeps: a
/// worker that had sent elements of 16 MB to 20 jobs kept 2 to 3 GB. Has no effect where the C
/// library is not glibc, or its variable MALLOC_MMAP_THRESHOLD_ is set.
void return_large_memory_at_once() noexcept;

} // namespace headrace::detail
