#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

namespace headrace::detail {

/// A file that is read at any offset. Thread-safe.
class random_file {
public:
  /// If the process has no free file descriptor, the function waits for one, for a bounded time or
  /// until `stop`.
  static result<std::unique_ptr<const random_file>> open(const std::string& path,
                                                         const std::stop_token& stop = {});
  ~random_file();
  random_file(const random_file&) = delete;
  random_file& operator=(const random_file&) = delete;

  const std::string& path() const noexcept { return path_; }
  /// The size and the time of the last change that the file had when it was opened.
  uint64_t bytes() const noexcept { return bytes_; }
  int64_t modified_ns() const noexcept { return modified_ns_; }
  /// Fills `to` completely. Errors name the file.
  status read(uint64_t offset, std::span<std::byte> to) const;
  /// Fills `to` as far as the file has bytes, and returns their number. Errors name the file.
  result<size_t> read_some(uint64_t offset, std::span<std::byte> to) const;

private:
  random_file(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::string path_;
  int fd_;
  uint64_t bytes_ = 0;
  int64_t modified_ns_ = 0;
};

} // namespace headrace::detail
