#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headrace::detail {

/// A file that gets its name when it is complete and on the disk. Errors name the file.
class whole_file {
public:
  /// `replaces`: an existing file is replaced. Otherwise `finish` returns `already_exists` if there
  /// is a file of that name, even if another process made it a moment before.
  explicit whole_file(std::string path, bool replaces = true)
    : path_(std::move(path)), replaces_(replaces) {}
  whole_file(const whole_file&) = delete;
  whole_file& operator=(const whole_file&) = delete;
  /// Removes the file if it did not get its name.
  ~whole_file();

  const std::string& path() const noexcept { return path_; }
  status open();
  status write(std::span<const std::byte> bytes);
  status finish();

private:
  status flush();
  status give_name();
  /// True if this file has the name `path_` already. Sets `errno` to EEXIST in any case.
  bool has_name() const;
  status failed(const char* what, int number) const;

  std::string path_, partial_;
  bool replaces_;
  int fd_ = -1;
  std::vector<std::byte> held_; ///< bytes that are not written to the file yet
  uint64_t written_ = 0;
};

} // namespace headrace::detail
