#pragma once

namespace headrace::detail {

/// Makes the C library return pieces of memory of 1 MiB or more to the system as soon as they are
/// freed. By default the library raises the least size of such pieces to the size of freed pieces,
/// up to 32 MiB, and the holes between smaller pieces stay in use: a worker that had sent elements
/// of 16 MB to 20 jobs kept 2 to 3 GB. Has no effect where the C library is not glibc, or its
/// variable MALLOC_MMAP_THRESHOLD_ is set.
void return_large_memory_at_once() noexcept;

} // namespace headrace::detail
