#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

namespace headrace {

/// The address of every buffer that headrace allocates is a multiple of this number, which is the
/// size of a cache line. This alignment suffices for every vector unit and for DLPack.
inline constexpr size_t buffer_alignment = 64;

class mutable_buffer;

/// A view of immutable bytes. Copies and slices share the storage, which is freed with the last of
/// these views.
class buffer {
public:
  buffer() noexcept = default;
  /// Shares bytes that `owner` keeps alive (a constant, a mapped file, a numpy array).
  buffer(std::shared_ptr<const void> owner, const std::byte* data, size_t size) noexcept
    : owner_(std::move(owner)), data_(data), size_(size) {}

  /// A fresh, aligned copy of `size` bytes.
  static buffer copy_of(const void* data, size_t size);
  template <class T>
  static buffer copy_of(std::span<const T> xs) {
    return copy_of(xs.data(), xs.size_bytes());
  }

  const std::byte* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  /// The bytes as values of `T`; bytes at the end that are not a whole value are left out.
  template <class T>
  std::span<const T> as() const noexcept {
    return {reinterpret_cast<const T*>(data_), size_ / sizeof(T)};
  }
  /// The bytes `[offset, offset + size)` of this buffer. @pre `offset + size <= this->size()`
  buffer slice(size_t offset, size_t size) const noexcept { return {owner_, data_ + offset, size}; }
  const std::shared_ptr<const void>& owner() const noexcept { return owner_; }

private:
  std::shared_ptr<const void> owner_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// Fresh, aligned, uninitialised bytes with one owner, which fills them and then freezes them. Up
/// to 63 bytes after the end may be read and written; their values are arbitrary.
class mutable_buffer {
public:
  mutable_buffer() noexcept = default;
  /// Throws std::bad_alloc if there is not enough memory.
  explicit mutable_buffer(size_t size);

  std::byte* data() noexcept { return data_; }
  const std::byte* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }
  template <class T>
  std::span<T> as() noexcept {
    return {reinterpret_cast<T*>(data_), size_ / sizeof(T)};
  }
  /// Makes a buffer of the first `size` bytes, and leaves this object empty.
  /// @pre `size <= this->size()`
  buffer freeze(size_t size) &&;
  buffer freeze() && { return std::move(*this).freeze(size_); }

private:
  std::shared_ptr<void> owner_;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// A buffer under construction, which grows like a vector.
class buffer_builder {
public:
  size_t size() const noexcept { return size_; }
  std::byte* data() noexcept { return storage_.data(); }
  void reserve(size_t capacity);
  /// Appends `n` uninitialised bytes and returns where they begin.
  std::byte* extend(size_t n) {
    if (size_ + n > storage_.size())
      reserve(std::max(size_ + n, storage_.size() * 2));
    auto* at = storage_.data() + size_;
    size_ += n;
    return at;
  }
  void append(const void* data, size_t n) {
    if (n != 0)
      std::memcpy(extend(n), data, n);
  }
  template <class T>
  void push_back(const T& x) {
    append(&x, sizeof(T));
  }
  /// Shortens the content to `size` bytes. @pre `size <= this->size()`
  void truncate(size_t size) noexcept { size_ = size; }
  /// The appended bytes; the builder is empty afterwards.
  buffer finish();

private:
  mutable_buffer storage_;
  size_t size_ = 0;
};

} // namespace headrace
