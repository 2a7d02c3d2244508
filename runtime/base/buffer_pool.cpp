#include "headrace/runtime/base/buffer_pool.hpp"

#include "headrace/runtime/base/buffer.hpp"

#include <bit>
#include <new>

namespace headrace::detail {

namespace {

constexpr auto alignment = std::align_val_t{buffer_alignment};

// The distance between two capacities near `size`: a quarter of the largest power of two that is
// not above it.
size_t step_of(size_t size) noexcept { return std::bit_floor(size) / 4; }

} // namespace

size_t buffer_pool::rounded(size_t size) noexcept {
  auto step = step_of(size);
  return (size + step - 1) / step * step;
}

size_t buffer_pool::class_of(size_t capacity) noexcept {
  auto power = static_cast<size_t>(std::bit_width(capacity / smallest) - 1);
  return 4 * power + (capacity - std::bit_floor(capacity)) / step_of(capacity);
}

void* buffer_pool::take(size_t capacity) {
  {
    std::lock_guard hold{mutex_};
    if (auto& blocks = free_[class_of(capacity)]; !blocks.empty()) {
      // The block that was freed last is the most likely to be in the cache.
      auto* block = blocks.back();
      blocks.pop_back();
      kept_ -= capacity;
      return block;
    }
  }
  return ::operator new(capacity, alignment);
}

void buffer_pool::give(void* block, size_t capacity) noexcept {
  try {
    std::lock_guard hold{mutex_};
    if (kept_ + capacity <= limit_) {
      free_[class_of(capacity)].push_back(block);
      kept_ += capacity;
      return;
    }
  } catch (const std::bad_alloc&) {
    // There is no memory for a longer list, so the block is freed.
  }
  ::operator delete(block, alignment);
}

void buffer_pool::trim() noexcept {
  std::lock_guard hold{mutex_};
  for (auto& blocks : free_) {
    for (auto* block : blocks) ::operator delete(block, alignment);
    blocks.clear();
  }
  kept_ = 0;
}

size_t buffer_pool::kept() const noexcept {
  std::lock_guard hold{mutex_};
  return kept_;
}

} // namespace headrace::detail
