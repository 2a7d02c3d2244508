#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/process_past.hpp"
#include "headrace/runtime/process/child_process.hpp"

#include <array>
#include <cstdint>
#include <functional>

namespace headrace::detail {

/// Data about the earlier lives of a child process, which the child can read and write: they are in
/// memory that it shares with its parent.
class process_lives {
public:
  virtual ~process_lives() = default;
  /// The number of restarts of the child, and the reason for the last one.
  virtual process_past past() const = 0;
  /// The port to listen on: the port that an earlier life stored under `slot`, or `fallback`.
  virtual uint16_t port(size_t slot, uint16_t fallback) const noexcept = 0;
  /// Stores a port for later lives, so that a restarted server has the same address.
  virtual void keep_port(size_t slot, uint16_t port) noexcept = 0;

  /// The number of slots; ports of higher slots are not stored.
  static constexpr size_t slots = 1025;
};

struct parent_options {
  /// The most restarts within `period`. After one more end of the child, the parent ends with the
  /// child's exit code.
  uint32_t max_restarts = 5;
  duration period = std::chrono::minutes{1};
  /// The pause before a restart: it doubles, with jitter, as long as each life of the child is
  /// shorter than `period`.
  duration first_pause = std::chrono::milliseconds{100};
  duration longest_pause = std::chrono::seconds{10};
  /// The time from the first signal to stop (SIGTERM, SIGINT or SIGHUP) to a SIGKILL.
  duration stop_budget = std::chrono::seconds{2};
  /// Called for each restart, with the end of the child and the pause. Default: one line on
  /// standard error.
  std::function<void(const process_end&, duration pause)> on_restart;
};

/// True if a child with this end is restarted: it reached its memory limit, had stuck threads, or
/// was killed by a signal, for instance after a crash, by SIGABRT, or by a SIGKILL of the kernel.
/// It is not restarted after SIGTERM, SIGINT and SIGHUP, which users send on purpose.
bool is_restarted(const process_end& end) noexcept;

/// Runs `body` in a child process, and again as long as `is_restarted` is true for the child's end.
/// Returns the exit code of the last life (128 + signal for a signal), or 0 if a signal to stop
/// arrives between two lives. SIGTERM, SIGINT and SIGHUP are forwarded to the child, and SIGKILL
/// follows after the stop budget; the child is killed when its parent ends. The parent has no other
/// thread and does nothing else. @pre this process has one thread: call it first in `main`.
int run_under_parent(const parent_options& options, const std::function<int(process_lives&)>& body);

} // namespace headrace::detail
