#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/caf/port.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace headrace::port {

/// The one timer of an actor whose core has many deadlines. A member of the actor's state.
///
/// The actor calls `set` with the core's earliest deadline after each event, and has a handler for
/// the reminder `(Atom, uint64_t epoch)`: where `due(epoch)` is true it gives the core the time,
/// and calls `set` again. A deadline that moves to a later time, or goes away, sends nothing: the
/// reminder comes at the earlier time, and the core then has nothing to do.
class alarm {
public:
  /// Sees to it that a reminder comes at `deadline`, or before it. Nothing if there is no deadline.
  template <class Self, class Atom>
  void set(Self* self, Atom what, std::optional<time_point> deadline) {
    if (!deadline || (armed_ && *armed_ <= *deadline))
      return;
    armed_ = deadline;
    remind(self, std::max(*deadline - self->clock().now(), duration{0}), what, ++epoch_);
  }

  /// A reminder came. False: an earlier time was set since, and this one is void.
  bool due(uint64_t epoch) noexcept {
    if (epoch != epoch_ || !armed_)
      return false;
    armed_.reset();
    return true;
  }

  /// When the reminder that is under way comes; none: there is none.
  std::optional<time_point> armed() const noexcept { return armed_; }

private:
  std::optional<time_point> armed_;
  uint64_t epoch_ = 0;
};

} // namespace headrace::port
