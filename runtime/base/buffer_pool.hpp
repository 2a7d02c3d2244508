#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <vector>

namespace headrace {

/// Keeps freed large blocks of memory for the next ones of their size: fresh memory from the system
/// costs a page fault for every 4 KiB, more than reading a block from a socket. Bounded in bytes.
/// Thread-safe.
class buffer_pool {
public:
  /// Keeps at most `limit` bytes.
  explicit buffer_pool(size_t limit) noexcept : limit_(limit) {}
  buffer_pool(const buffer_pool&) = delete;
  buffer_pool& operator=(const buffer_pool&) = delete;
  ~buffer_pool() { trim(); }

  /// Sizes that are worth keeping; others are not for this class.
  static constexpr size_t smallest = size_t{32} << 10;
  static constexpr size_t largest = size_t{32} << 20;
  static constexpr bool handles(size_t size) noexcept {
    return size >= smallest && size <= largest;
  }
  /// What a block for `size` bytes really has: up to a quarter more. @pre `handles(size)`
  static size_t rounded(size_t size) noexcept;

  /// Uninitialised, aligned to `buffer_alignment`. Throws std::bad_alloc. @pre `capacity ==
  /// rounded(...)`
  void* take(size_t capacity);
  /// Gives back what `take(capacity)` gave.
  void give(void* block, size_t capacity) noexcept;
  /// Gives everything back to the system.
  void trim() noexcept;
  /// Bytes that wait for their next use.
  size_t kept() const noexcept;

private:
  static size_t class_of(size_t capacity) noexcept;

  // Four sizes between a power of two and the next.
  static constexpr size_t classes = 4 * 10 + 1;
  mutable std::mutex mutex_;
  std::array<std::vector<void*>, classes> free_;
  size_t kept_ = 0;
  const size_t limit_;
};

} // namespace headrace
