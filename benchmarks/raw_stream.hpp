#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace::detail::bench {

/// The limit named "raw" in the table of link_rate and "framed socket" in that of headrace_bench: a
/// child process fills blocks of `size` bytes (a multiple of 8) and writes each, after a header of
/// 64 bytes, into one loopback TCP connection; this process reads each into a new buffer and reads
/// every byte. Returns bytes of blocks per second. Throws std::runtime_error.
double raw_stream_rate(size_t size, size_t count);

/// Reads every byte: the sum of the 64-bit integers.
inline int64_t sum_of(const void* data, size_t size) {
  int64_t sum = 0;
  const auto* xs = static_cast<const int64_t*>(data);
  for (size_t i = 0; i < size / sizeof(int64_t); ++i) sum += xs[i];
  return sum;
}

/// Fills a block so that it differs from the previous one.
inline void fill_block(void* data, size_t size, int64_t seed) {
  auto* xs = static_cast<int64_t*>(data);
  for (size_t i = 0; i < size / sizeof(int64_t); ++i) xs[i] = seed + static_cast<int64_t>(i);
}

} // namespace headrace::detail::bench
