#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace headrace {

/// How a process ended.
struct process_end {
  int code = 0;   ///< exit code; of no meaning if `signal` is set
  int signal = 0; ///< the signal that ended it, or 0

  /// As a shell reports it: the code, or 128 + signal.
  int as_exit_code() const noexcept { return signal != 0 ? 128 + signal : code; }
  friend bool operator==(const process_end&, const process_end&) = default;
};
/// `exit code 75 (memory limit reached; ...)`, `signal 9 (Killed)`.
std::string to_string(const process_end& x);

struct child_options {
  /// Program (looked up in PATH if it has no slash) and its arguments.
  std::vector<std::string> argv;
  /// `NAME=value`, added to the parent's environment.
  std::vector<std::string> environment;
  /// Standard output is read through `read_line`; otherwise it is the parent's.
  bool read_stdout = true;
  /// Redirect standard error to standard output.
  bool merge_stderr = false;
  /// The kernel kills the child when the *thread* that started it ends.
  bool dies_with_parent = true;
  /// Run in a process group of its own, which signals of the terminal do not reach.
  bool own_group = false;
};

/// A program started by this one, for tests and demonstrations. It never outlives the object, and
/// inherits only the three standard descriptors. Not thread-safe.
class child_process {
public:
  static result<child_process> start(child_options options);
  child_process(child_process&& other) noexcept;
  child_process& operator=(child_process&& other) noexcept;
  /// Kills and reaps it, if it still runs.
  ~child_process();

  pid_t pid() const noexcept { return pid_; }
  bool running();
  /// A descriptor that is readable when `read_line` has something to read; -1: standard output is
  /// the parent's.
  int output() const noexcept { return out_; }
  /// Sends a signal; nothing if it has ended.
  void kill(int signal);
  /// Waits for its end; `deadline_exceeded` if it still runs after `limit`. May be called again.
  result<process_end> wait(duration limit);
  /// The next line of its output, without the end of line. `out_of_range` at the end of the output,
  /// `deadline_exceeded` if no whole line comes in time.
  result<std::string> read_line(duration limit);
  /// Reads lines until one contains `text`, and returns that one; errors quote the lines before.
  result<std::string> read_until(const std::string& text, duration limit);

private:
  child_process(pid_t pid, int out) : pid_(pid), out_(out) {}
  void close() noexcept;

  pid_t pid_ = -1;
  int out_ = -1;
  std::string pending_;
  bool at_end_ = false;
  std::optional<process_end> ended_;
};

} // namespace headrace
