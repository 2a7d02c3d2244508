#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headrace::detail {

/// A file that gets its name when it is complete and on the disk. Errors name it.
class whole_file {
public:
  /// `replaces`: a file that is there is replaced; else `finish` says `already_exists`, also if
  /// another process was the first by a moment.
  explicit whole_file(std::string path, bool replaces = true)
    : path_(std::move(path)), replaces_(replaces) {}
  whole_file(const whole_file&) = delete;
  whole_file& operator=(const whole_file&) = delete;
  /// Removes a file that has no name yet.
  ~whole_file();

  const std::string& path() const noexcept { return path_; }
  status open();
  status write(std::span<const std::byte> bytes);
  status finish();

private:
  status flush();
  status give_name();
  /// Is the file that has the name this one?
  bool has_name() const;
  status failed(const char* what, int number) const;

  std::string path_, partial_;
  bool replaces_;
  int fd_ = -1;
  std::vector<std::byte> held_; ///< not written yet
  uint64_t written_ = 0;
};

} // namespace headrace::detail
