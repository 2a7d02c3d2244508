#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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
  /// The capacity of a new block for `size` bytes: up to a quarter more. @pre `handles(size)`
  static size_t rounded(size_t size) noexcept;

  struct block {
    void* data;
    size_t capacity;
  };
  /// Returns uninitialised memory for `size` bytes, aligned to `buffer_alignment`: a kept block of
  /// at most 1.5 `size` bytes, or a new block. Throws std::bad_alloc. @pre `handles(size)`
  block take(size_t size);
  /// Gives back a block. To make room for it, the pool frees blocks of the sizes that were used
  /// longest ago. If that does not make enough room, the pool frees `what` instead of keeping it.
  void give(block what) noexcept;
  /// Returns all kept blocks to the system.
  void trim() noexcept;
  /// The bytes of kept blocks.
  size_t kept() const noexcept;

private:
  static size_t class_of(size_t capacity) noexcept;
  /// Frees blocks of the classes that were used longest ago, but no block of the class `own`, until
  /// `capacity` more bytes can be kept. Returns false if the other classes have too few blocks for
  /// that. @pre the mutex is locked
  bool make_room(size_t capacity, size_t own) noexcept;

  // All blocks of a class have the same capacity. There are four classes for each of the ten powers
  // of two from `smallest` up to but not including `largest`, and one for `largest` itself.
  static constexpr size_t classes = 4 * 10 + 1;
  mutable std::mutex mutex_;
  struct free_blocks {
    std::vector<void*> blocks;
    size_t capacity = 0; ///< the capacity of each block
    uint64_t used = 0;   ///< the value of `uses_` at the last use
  };
  std::array<free_blocks, classes> classes_;
  uint64_t uses_ = 0;
  size_t kept_ = 0;
  const size_t limit_;
};

} // namespace headrace::detail
