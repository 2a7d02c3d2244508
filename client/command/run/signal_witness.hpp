#pragma once

#include "headrace/runtime/base/result.hpp"

#include <sys/types.h>

namespace headrace::detail::command {

/// A process in the group of this process that only reports the signals that it receives. A
/// signal to the whole group, or to all descendants of a process, reaches both the witness and a
/// command that was started beside it; a signal to a single other process of the run reaches
/// neither.
///
/// The witness ends with this object, or with the thread that started it.
class signal_witness {
public:
  static result<signal_witness> start();
  signal_witness(signal_witness&& other) noexcept;
  signal_witness& operator=(signal_witness&&) = delete;
  ~signal_witness();

  pid_t pid() const noexcept { return pid_; }
  /// The descriptor from which the signals' numbers can be read, a byte each, without blocking.
  int output() const noexcept { return out_; }

private:
  signal_witness(pid_t pid, int out) : pid_(pid), out_(out) {}

  pid_t pid_ = -1;
  int out_ = -1;
};

} // namespace headrace::detail::command
