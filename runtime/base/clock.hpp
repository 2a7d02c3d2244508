#pragma once

#include <chrono>

namespace headrace {

/// Monotonic time. Pure cores take it as an argument; other code gets it only through `clock`.
using time_point = std::chrono::steady_clock::time_point;
using duration = std::chrono::nanoseconds;

/// A duration in seconds, with fractions.
constexpr double in_seconds(duration x) noexcept {
  return std::chrono::duration<double>(x).count();
}

/// A source of time: the system's clock in production, a controlled one in tests.
class clock {
public:
  virtual ~clock() = default;
  virtual time_point now() const noexcept = 0;
  /// The machine's monotonic clock.
  static const clock& system() noexcept;
};

/// A clock that stands still between calls of `advance`. Not thread-safe.
class manual_clock final : public clock {
public:
  time_point now() const noexcept override { return now_; }
  void advance(duration by) noexcept { now_ += by; }

private:
  time_point now_{};
};

} // namespace headrace
