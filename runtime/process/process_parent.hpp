#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/process_past.hpp"
#include "headrace/runtime/process/child_process.hpp"

#include <array>
#include <cstdint>
#include <functional>

namespace headrace {

/// What a child process knows of its earlier lives. Lives in memory shared with the parent.
class process_lives {
public:
  virtual ~process_lives() = default;
  /// How often the child was restarted, and why the last time.
  virtual process_past past() const = 0;
  /// The port that an earlier life kept under `slot`, or `fallback`: what to listen on.
  virtual uint16_t port(size_t slot, uint16_t fallback) const noexcept = 0;
  /// Keeps a port for later lives, so that a restarted server is found where it was.
  virtual void keep_port(size_t slot, uint16_t port) noexcept = 0;

  /// Slots beyond are not kept.
  static constexpr size_t slots = 1025;
};

struct parent_options {
  /// At most this many restarts within `period`; one more and the parent ends as its child did.
  uint32_t max_restarts = 5;
  duration period = std::chrono::minutes{1};
  /// The pause before a restart: doubles, with jitter, while the child does not live for a period.
  duration first_pause = std::chrono::milliseconds{100};
  duration longest_pause = std::chrono::seconds{10};
  /// From a forwarded SIGTERM to a SIGKILL.
  duration stop_budget = std::chrono::seconds{2};
  /// Told of each restart: how the child ended and how long the pause is. Default: one line on
  /// standard error.
  std::function<void(const process_end&, duration pause)> on_restart;
};

/// Whether a child that ended like this is started again: it reached its memory limit, has stuck
/// threads, or died of a signal that nobody sends on purpose (crashes, SIGABRT, SIGKILL by the
/// kernel).
bool is_restarted(const process_end& end) noexcept;

/// Runs `body` in a child process and starts it anew when `is_restarted`; returns the exit code of
/// its last life (128 + signal for a signal). SIGTERM, SIGINT and SIGHUP go to the child, SIGKILL
/// after the budget; the child dies with its parent. The parent has no thread and does nothing
/// else.
/// @pre this process has one thread: call it first in `main`.
int run_under_parent(const parent_options& options, const std::function<int(process_lives&)>& body);

} // namespace headrace
