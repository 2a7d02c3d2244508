#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace headrace::detail {

/// The exit code of a process whose code the system did not keep, because SIGCHLD is ignored.
inline constexpr int unknown_exit_code = 255;

/// How a process ended.
struct process_end {
  int code = 0;   ///< exit code; without meaning if `signal` is set
  int signal = 0; ///< the signal that ended the process, or 0

  /// The exit code as a shell reports it: the code, or 128 + signal.
  int as_exit_code() const noexcept { return signal != 0 ? 128 + signal : code; }
  friend bool operator==(const process_end&, const process_end&) = default;
};
/// A text such as `exit code 75 (memory limit reached; ...)` or `signal 9 (Killed)`.
std::string to_string(const process_end& x);

struct child_options {
  /// The program (searched in PATH if it has no slash) and its arguments.
  std::vector<std::string> argv;
  /// `NAME=value`, in place of the parent's variables of these names; the parent's other variables
  /// are inherited.
  std::vector<std::string> environment;
  /// True: `read_line` reads standard output. False: the child has the parent's standard output.
  bool read_stdout = true;
  /// Standard error is redirected to standard output.
  bool merge_stderr = false;
  /// The kernel kills the child when the *thread* that started it ends.
  bool dies_with_parent = true;
  /// The child runs in a process group of its own, to which signals of the terminal are not sent.
  bool own_group = false;
  /// Signals that the child ignores, unless it handles them. Of the other signals, SIGPIPE has its
  /// usual effect, and the child ignores those that the parent ignores.
  std::vector<int> ignored_signals = {};
};

/// A program that this program has started. It never outlives the object, and inherits only the
/// three standard descriptors. Not thread-safe.
class child_process {
public:
  static result<child_process> start(child_options options);
  child_process(child_process&& other) noexcept;
  child_process& operator=(child_process&& other) noexcept;
  /// Kills and reaps the child if it still runs.
  ~child_process();

  pid_t pid() const noexcept { return pid_; }
  bool running();
  /// A descriptor that is readable when `read_line` has bytes to read; -1: the child has the
  /// parent's standard output.
  int output() const noexcept { return out_; }
  /// Sends a signal. Does nothing if the child has ended.
  void kill(int signal);
  /// Waits for the child's end; `deadline_exceeded` if the child still runs after `limit`. May be
  /// called again.
  result<process_end> wait(duration limit);
  /// The next line of the child's output, without its line break. `out_of_range` at the end of the
  /// output, `deadline_exceeded` if no complete line arrives in time.
  result<std::string> read_line(duration limit);
  /// Reads lines until one contains `text`, and returns that line. An error contains the lines that
  /// were read.
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

} // namespace headrace::detail
