#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <string>

namespace headrace::detail {

/// A file that only occupies space on a disk. When the disk is full, the file is emptied, so that
/// other files there can still be written.
class disk_reserve {
public:
  /// Occupies the space. If the disk has less than `needs` free, or the space cannot be allocated,
  /// `held` is false afterwards. For 0 bytes there is no file, and an existing file is deleted.
  static result<disk_reserve> open(const std::string& path, uint64_t bytes);
  disk_reserve(disk_reserve&& other) noexcept;
  disk_reserve& operator=(disk_reserve&& other) noexcept;
  ~disk_reserve();

  uint64_t bytes() const noexcept { return bytes_; }
  /// The free space that the disk must have before the reserve is occupied. It is larger than the
  /// reserve, so that space is left for other files.
  uint64_t needs() const noexcept { return bytes_ + bytes_ / 4; }
  /// True if the space is occupied.
  bool held() const noexcept { return held_; }
  bool missing() const noexcept { return bytes_ != 0 && !held_; }
  /// Tries to occupy the space again; see `held`.
  void take() noexcept;
  void release() noexcept;

private:
  disk_reserve(int fd, uint64_t bytes) : fd_(fd), bytes_(bytes) {}
  bool has_all() const noexcept;

  int fd_;
  uint64_t bytes_;
  bool held_ = false;
};

} // namespace headrace::detail
