#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <string>

namespace headrace::detail {

/// A file that only takes up space on a disk, to be given back when nothing else is left.
class disk_reserve {
public:
  /// Takes the space unless the disk is full: then it is missing. No file for 0 bytes.
  static result<disk_reserve> open(const std::string& path, uint64_t bytes);
  disk_reserve(disk_reserve&& other) noexcept;
  disk_reserve& operator=(disk_reserve&& other) noexcept;
  ~disk_reserve();

  uint64_t bytes() const noexcept { return bytes_; }
  /// What the disk needs to have left before the reserve is taken again: more than it holds, as
  /// else the space that it gave back would be taken from those who need it.
  uint64_t needs() const noexcept { return bytes_ + bytes_ / 4; }
  /// There is something to give back.
  bool held() const noexcept { return held_; }
  bool missing() const noexcept { return bytes_ != 0 && !held_; }
  /// Tries to take the space again; see `held`.
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
