#include "headrace/runtime/base/buffer_pool.hpp"

#include "headrace/runtime/base/buffer.hpp"

#include <algorithm>
#include <bit>
#include <new>

namespace headrace::detail {

namespace {

constexpr auto alignment = std::align_val_t{buffer_alignment};

// The distance between two capacities near `size`: a quarter of the largest power of two that is at
// most `size`.
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

buffer_pool::block buffer_pool::take(size_t size) {
  const auto capacity = rounded(size);
  {
    std::lock_guard hold{mutex_};
    const auto first = class_of(capacity);
    for (auto number = first; number < std::min(first + 3, classes); ++number) {
      auto& from = classes_[number];
      if (from.blocks.empty() || from.capacity > std::max(capacity, size + size / 2))
        continue;
      // The block that was freed last is the most likely to be in the cache.
      auto* data = from.blocks.back();
      from.blocks.pop_back();
      from.used = ++uses_;
      kept_ -= from.capacity;
      return {data, from.capacity};
    }
  }
  return {::operator new(capacity, alignment), capacity};
}

void buffer_pool::give(block what) noexcept {
  try {
    std::lock_guard hold{mutex_};
    const auto number = class_of(what.capacity);
    if (make_room(what.capacity, number)) {
      auto& to = classes_[number];
      to.capacity = what.capacity;
      to.used = ++uses_;
      to.blocks.push_back(what.data);
      kept_ += what.capacity;
      return;
    }
  } catch (const std::bad_alloc&) {
    // There is no memory for a longer list, so the block is freed.
  }
  ::operator delete(what.data, alignment);
}

bool buffer_pool::make_room(size_t capacity, size_t own) noexcept {
  while (kept_ + capacity > limit_) {
    free_blocks* oldest = nullptr;
    for (auto& x : classes_)
      if (!x.blocks.empty() && &x != &classes_[own] && (!oldest || x.used < oldest->used))
        oldest = &x;
    if (!oldest)
      return false;
    ::operator delete(oldest->blocks.back(), alignment);
    oldest->blocks.pop_back();
    kept_ -= oldest->capacity;
  }
  return true;
}

void buffer_pool::trim() noexcept {
  std::lock_guard hold{mutex_};
  for (auto& x : classes_) {
    for (auto* data : x.blocks) ::operator delete(data, alignment);
    x.blocks.clear();
  }
  kept_ = 0;
}

size_t buffer_pool::kept() const noexcept {
  std::lock_guard hold{mutex_};
  return kept_;
}

} // namespace headrace::detail
