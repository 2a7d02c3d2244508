#pragma once

namespace headrace::detail {

/// Lets this process return memory from 1 MiB on to the system as soon as it is freed. Without
/// this, the C library raises that limit to 32 MiB when large memory is freed for the first time,
/// and the holes between such pieces stay in use: a worker that had sent elements of 16 MB to 20
/// jobs kept 2 to 3 GB. Has no effect
/// where the C library is not glibc, or its variable MALLOC_MMAP_THRESHOLD_ is set.
void return_large_memory_at_once() noexcept;

} // namespace headrace::detail
