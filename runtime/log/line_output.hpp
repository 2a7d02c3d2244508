#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <cstdint>
#include <mutex>
#include <string_view>

namespace headrace::detail {

/// Writes complete lines to a descriptor whose reader may have stopped: a log collector that hangs,
/// or a stopped terminal. A server must not wait for such a reader. A line that cannot be
/// written within `patience` is dropped, and so are the following lines until there is room again;
/// then a line with the number of dropped lines is written. May be called from any thread.
class line_output {
public:
  /// `fd` is owned by the caller.
  explicit line_output(int fd, duration patience = std::chrono::milliseconds{100})
    : fd_(fd), patience_(patience) {}

  /// `line`: with or without its line break. Errors, such as a closed reader, are ignored. SIGPIPE
  /// must be ignored.
  void write(std::string_view line);

private:
  bool put(std::string_view text, duration limit);

  const int fd_;
  const duration patience_;
  std::mutex mutex_;
  uint64_t left_out_ = 0;
  bool broken_off_ = false; ///< the line that was begun last was written only in part
};

} // namespace headrace::detail
