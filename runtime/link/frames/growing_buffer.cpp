#include "headrace/runtime/link/frames/growing_buffer.hpp"

#include <algorithm>
#include <sys/mman.h>
#include <utility>

namespace headrace::detail {

namespace {

constexpr size_t page = 4096;

// The size in whole pages, with the spare bytes that every buffer has after its end.
constexpr size_t pages_for(size_t size) {
  return (size + buffer_alignment + page - 1) / page * page;
}

} // namespace

growing_buffer::growing_buffer(growing_buffer&& other) noexcept
  : data_(std::exchange(other.data_, nullptr)),
    capacity_(std::exchange(other.capacity_, 0)),
    mapped_(std::exchange(other.mapped_, 0)),
    final_size_(other.final_size_),
    first_size_(other.first_size_) {}

growing_buffer& growing_buffer::operator=(growing_buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(capacity_, other.capacity_);
  std::swap(mapped_, other.mapped_);
  std::swap(final_size_, other.final_size_);
  std::swap(first_size_, other.first_size_);
  return *this;
}

growing_buffer::~growing_buffer() {
  if (data_ != nullptr)
    ::munmap(data_, mapped_);
}

bool growing_buffer::grow() noexcept {
  auto wanted = std::min(final_size_, capacity_ == 0 ? first_size_ : 2 * capacity_);
  auto bytes = pages_for(wanted);
  void* at = data_ == nullptr
               ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
               : ::mremap(data_, mapped_, bytes, MREMAP_MAYMOVE);
  if (at == MAP_FAILED)
    return false;
  data_ = static_cast<std::byte*>(at);
  capacity_ = wanted;
  mapped_ = bytes;
  return true;
}

buffer growing_buffer::freeze() && {
  auto* data = std::exchange(data_, nullptr);
  auto mapped = mapped_;
  // If memory for the count of owners is missing, this constructor calls the deleter and throws.
  std::shared_ptr<const void> owner{data, [data, mapped](const void*) { ::munmap(data, mapped); }};
  return {std::move(owner), data, final_size_};
}

} // namespace headrace::detail
