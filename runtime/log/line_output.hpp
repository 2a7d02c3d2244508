#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <cstdint>
#include <mutex>
#include <string_view>

namespace headrace {

/// Writes whole lines to a descriptor that somebody else may have stopped to read: a pipe to a log
/// collector that hangs, a terminal that is held. A server must not wait for those. What cannot be
/// written within `patience` is left out, and so is all that follows until there is room again;
/// then a line says how many lines were left out. Any thread may call it.
class line_output {
public:
  /// `fd` stays the caller's.
  explicit line_output(int fd, duration patience = std::chrono::milliseconds{100})
    : fd_(fd), patience_(patience) {}

  /// `line`: with or without its line break. Errors, such as a reader that is gone, are nobody's to
  /// hear. SIGPIPE has to be ignored.
  void write(std::string_view line);

private:
  bool put(std::string_view text, duration limit);

  const int fd_;
  const duration patience_;
  std::mutex mutex_;
  uint64_t left_out_ = 0;
  bool broken_off_ = false; ///< in the middle of a line
};

} // namespace headrace
