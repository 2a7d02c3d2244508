#pragma once

#include "benchmarks/raw_stream.hpp"

#include <headrace/headrace.hpp>

#include <chrono>

namespace headrace::detail::bench {

template <class F>
double seconds_of(F&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Calls `work`, which reads `elements` elements, and returns the elements per second.
template <class F>
double rate(int64_t elements, F&& work) {
  return static_cast<double>(elements) / seconds_of(work);
}

/// Reads all elements in blocks and reads every value of the first component; returns the number of
/// rows. Throws `error` for an error row.
inline size_t drain_blocks(const dataset& from) {
  auto it = from.iterate();
  size_t rows = 0;
  int64_t sum = 0;
  while (auto b = it.next_block()) {
    if (!b->errors.empty())
      throw error{b->errors.front().why};
    rows += b->rows;
    const auto& bytes = b->columns[0].value_buffer();
    sum += sum_of(bytes.data(), bytes.size());
  }
  [[maybe_unused]] volatile int64_t kept = sum;
  return rows;
}

/// Reads all elements in blocks, without reading their values.
inline size_t drain_any(const dataset& from) {
  auto it = from.iterate();
  size_t rows = 0;
  while (auto b = it.next_block()) rows += b->rows;
  return rows;
}

} // namespace headrace::detail::bench
