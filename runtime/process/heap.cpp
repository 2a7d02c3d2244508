#include "headrace/runtime/process/heap.hpp"

#include <cstdlib> // defines __GLIBC__ if the C library is glibc

#ifdef __GLIBC__
#  include <malloc.h>
#endif

namespace headrace::detail {

void return_large_memory_at_once() noexcept {
#ifdef __GLIBC__
  if (std::getenv("MALLOC_MMAP_THRESHOLD_") != nullptr)
    return; // the user has chosen a threshold
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
  // Setting the threshold for mmap also fixes the threshold for trimming the heap, at 128 KiB, with
  // which the heap would shrink and grow all the time.
  ::mallopt(M_TRIM_THRESHOLD, 16 << 20);
#endif
}

} // namespace headrace::detail
