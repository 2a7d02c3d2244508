#pragma once

#include "headrace/runtime/base/status.hpp"

#include <string_view>

namespace headrace::detail {

/// The exit codes of headrace's processes. If a process is killed by a signal, its wait status
/// contains the signal, as usual (a shell and `run_under_parent` report 128 + the signal's number).
enum class exit_code : int {
  ok = 0,               ///< the process did its task, or stopped when it was requested to
  failure = 1,          ///< the process could not do its task; the reason is on standard error
  usage = 2,            ///< the command line is wrong
  cannot_listen = 3,    ///< a port is in use
  cannot_connect = 4,   ///< no dispatcher answers at the given address
  version_mismatch = 5, ///< the peer has another major version
  internal = 70,        ///< a defect of headrace
  /// The process would have exceeded `--memory-limit`; its parent restarts it.
  memory_limit = 75,
  stuck_thread = 76, ///< too many threads hang in foreign code; the parent restarts the process
  /// The process was requested to stop, exceeded its time limit for that, and ended at once.
  stop_overrun = 77,
  exec_failed = 127, ///< the program to run cannot be started
};

/// The meaning of `code`, for `--help` and logs. Empty for a number that is none of these codes.
std::string_view describe(exit_code code) noexcept;

/// The code for a program that ends because of `why`.
exit_code exit_code_of(const status& why) noexcept;
/// As `exit_code_of`, for a failed `connect`: a failed precondition means another major version. An
/// invalid argument (another program at the address) and a lack of a valid certificate result in
/// `cannot_connect`.
exit_code exit_code_of_connect(const status& why) noexcept;

} // namespace headrace::detail
