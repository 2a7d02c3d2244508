#pragma once

#include "headrace/runtime/base/status.hpp"

#include <string_view>

namespace headrace {

/// The exit codes of headrace's processes. A process that is killed by a signal shows that signal
/// as usual (a shell and `run_under_parent` report 128 + its number).
enum class exit_code : int {
  ok = 0,               ///< it did its task, or stopped when it was asked to
  failure = 1,          ///< it could not do its task; standard error says why
  usage = 2,            ///< the command line is wrong
  cannot_listen = 3,    ///< a port is in use, or the address is not one of this host
  cannot_connect = 4,   ///< no dispatcher answers at the address given
  version_mismatch = 5, ///< the peer is of another major version
  internal = 70,        ///< a defect of headrace
  memory_limit = 75,    ///< it would have exceeded `--memory-limit`; its parent restarts it
  stuck_thread = 76,    ///< too many threads hang in foreign code; its parent restarts it
  stop_overrun = 77,    ///< it was asked to stop, exceeded its budget for that, and ended at once
  exec_failed = 127,    ///< the program to run cannot be started
};

/// What `code` means, for `--help` and logs. Empty for a number that is none of them.
std::string_view describe(exit_code code) noexcept;

/// The code for a program that ends because of `why`.
exit_code exit_code_of(const status& why) noexcept;
/// As above for a failed `connect`: a failed precondition is another major version, and an invalid
/// argument is another program at the address.
exit_code exit_code_of_connect(const status& why) noexcept;

} // namespace headrace
