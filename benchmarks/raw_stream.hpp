#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace::detail::bench {

/// Measures the rate of a plain TCP socket, which is an upper limit for the rate of a link: "raw"
/// in the table of link_rate, "framed socket" in the table of headrace_bench. A child process fills
/// `count` blocks of `size` bytes (a multiple of 8) and writes each, after a header of 64 bytes, to
/// one loopback TCP connection. This process receives each block in a new buffer and reads every
/// byte. Returns the bytes of blocks per second. Throws std::runtime_error.
double raw_stream_rate(size_t size, size_t count);

/// Reads every byte, and returns the sum of the data as 64-bit integers.
inline int64_t sum_of(const void* data, size_t size) {
  int64_t sum = 0;
  const auto* xs = static_cast<const int64_t*>(data);
  for (size_t i = 0; i < size / sizeof(int64_t); ++i) sum += xs[i];
  return sum;
}

/// Fills a block with the integers from `seed` on. With another seed the block differs.
inline void fill_block(void* data, size_t size, int64_t seed) {
  auto* xs = static_cast<int64_t*>(data);
  for (size_t i = 0; i < size / sizeof(int64_t); ++i) xs[i] = seed + static_cast<int64_t>(i);
}

} // namespace headrace::detail::bench
