#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <vector>

namespace headrace::detail {

/// Keeps freed large blocks of memory for reuse, because new memory costs a page fault for every 4
/// KiB, which takes longer than reading a block from a socket. The kept bytes are bounded.
/// Thread-safe.
class buffer_pool {
public:
  /// `limit`: the most bytes that are kept.
  explicit buffer_pool(size_t limit) noexcept : limit_(limit) {}
  buffer_pool(const buffer_pool&) = delete;
  buffer_pool& operator=(const buffer_pool&) = delete;
  ~buffer_pool() { trim(); }

  /// The range of the sizes of blocks that are kept; `take` must not be called for other sizes.
  static constexpr size_t smallest = size_t{32} << 10;
  static constexpr size_t largest = size_t{32} << 20;
  static constexpr bool handles(size_t size) noexcept {
    return size >= smallest && size <= largest;
  }
  /// The capacity of a block for `size` bytes: up to a quarter more. @pre `handles(size)`
  static size_t rounded(size_t size) noexcept;

  /// Returns uninitialised memory, aligned to `buffer_alignment`. Throws std::bad_alloc. @pre
  /// `capacity == rounded(...)`
  void* take(size_t capacity);
  /// Gives back a block that `take(capacity)` returned.
  void give(void* block, size_t capacity) noexcept;
  /// Returns all kept blocks to the system.
  void trim() noexcept;
  /// The bytes of kept blocks.
  size_t kept() const noexcept;

private:
  static size_t class_of(size_t capacity) noexcept;

  // There are four capacities between a power of two and the next.
  static constexpr size_t classes = 4 * 10 + 1;
  mutable std::mutex mutex_;
  std::array<std::vector<void*>, classes> free_;
  size_t kept_ = 0;
  const size_t limit_;
};

} // namespace headrace::detail
