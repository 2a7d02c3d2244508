#pragma once

#include "headrace/runtime/base/buffer.hpp"

#include <cstddef>

namespace headrace::detail {

/// A buffer of an announced size that grows as its bytes arrive, so that an announcement alone
/// takes no memory. When it grows, pages are moved and nothing is copied. Not thread-safe.
class growing_buffer {
public:
  /// A buffer that will have `final_size` bytes. It has no memory until the first `grow`.
  growing_buffer(size_t final_size, size_t first_size) noexcept
    : final_size_(final_size), first_size_(first_size) {}
  growing_buffer(growing_buffer&& other) noexcept;
  growing_buffer& operator=(growing_buffer&& other) noexcept;
  ~growing_buffer();

  size_t final_size() const noexcept { return final_size_; }
  size_t capacity() const noexcept { return capacity_; }
  /// Valid until the next `grow`.
  std::byte* data() noexcept { return data_; }
  /// Raises the capacity to `first_size` in the first call, and doubles it in further calls, up to
  /// the final size. False if there is not enough memory; the buffer is then unchanged.
  bool grow() noexcept;
  /// Turns this object into a buffer of all bytes without copying them; may throw std::bad_alloc.
  /// @pre `capacity() == final_size()`
  buffer freeze() &&;

private:
  std::byte* data_ = nullptr;
  size_t capacity_ = 0; // the usable bytes
  size_t mapped_ = 0;   // the size of the mapped memory: whole pages
  size_t final_size_ = 0;
  size_t first_size_ = 0;
};

} // namespace headrace::detail
