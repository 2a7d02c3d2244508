#include "headrace/runtime/base/buffer.hpp"

#include "headrace/runtime/base/buffer_pool.hpp"

#include <new>

namespace headrace {
using namespace detail;

namespace {

// The number of bytes to allocate for `size` bytes: whole cache lines, with at least 64 bytes after
// the end, because vector kernels may read and write beyond the end.
constexpr size_t padded(size_t size) {
  return (size + 2 * buffer_alignment - 1) & ~(buffer_alignment - 1);
}

// Under sanitizers no memory is reused, so that the sanitizers detect uses of freed buffers.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t pool_limit = 0;
#else
constexpr size_t pool_limit = size_t{64} << 20;
#endif

// The pool is never destroyed, so it outlives all buffers, including those in static objects.
buffer_pool& pool() {
  static auto* const p = new buffer_pool{pool_limit};
  return *p;
}

} // namespace

buffer buffer::copy_of(const void* data, size_t size) {
  mutable_buffer out{size};
  if (size != 0)
    std::memcpy(out.data(), data, size);
  return std::move(out).freeze();
}

mutable_buffer::mutable_buffer(size_t size) : size_(size) {
  if (auto wanted = padded(size); buffer_pool::handles(wanted)) {
    const auto block = pool().take(wanted);
    data_ = static_cast<std::byte*>(block.data);
    owner_ = std::shared_ptr<void>{block.data, [capacity = block.capacity](void* p) {
                                     pool().give({p, capacity});
                                   }};
    return;
  }
  auto* raw = ::operator new (padded(size), std::align_val_t{buffer_alignment});
  data_ = static_cast<std::byte*>(raw);
  owner_ = std::shared_ptr<void>{
    raw, [](void* p) { ::operator delete (p, std::align_val_t{buffer_alignment}); }};
}

buffer mutable_buffer::freeze(size_t size) && {
  auto* data = data_;
  data_ = nullptr;
  size_ = 0;
  return {std::move(owner_), data, size};
}

void buffer_builder::reserve(size_t capacity) {
  if (capacity <= storage_.size())
    return;
  mutable_buffer bigger{capacity};
  if (size_ != 0)
    std::memcpy(bigger.data(), storage_.data(), size_);
  storage_ = std::move(bigger);
}

buffer buffer_builder::finish() {
  auto size = size_;
  size_ = 0;
  if (size == 0)
    return {};
  return std::move(storage_).freeze(size);
}

} // namespace headrace
