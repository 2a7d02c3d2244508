#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/caf/port.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace headrace::port {

/// The only timer of an actor whose core has many deadlines. It is a member of the actor's state.
///
/// The actor calls `set` with the core's earliest deadline after each event, and handles the
/// reminder `(Atom, uint64_t epoch)`: if `due(epoch)` is true, it calls the core's `timer` and then
/// `set`. If a deadline is moved to a later time or removed, no message is sent: the reminder
/// arrives at the earlier time, and the core then has nothing to do.
class alarm {
public:
  /// The longest delay of a reminder. It is bounded because a pending reminder keeps the memory of
  /// an actor that has ended. For a later deadline the reminder arrives early.
  static constexpr duration longest = std::chrono::seconds{30};

  /// Ensures that a reminder arrives at `deadline` or earlier. Does nothing without a deadline.
  template <class Self, class Atom>
  void set(Self* self, Atom what, std::optional<time_point> deadline) {
    if (!deadline || (armed_ && *armed_ <= *deadline))
      return;
    const auto now = self->clock().now();
    armed_ = std::min(*deadline, now + longest);
    remind(self, std::max(*armed_ - now, duration{0}), what, ++epoch_);
  }

  /// To be called when a reminder arrives. False: the reminder is void, because an earlier deadline
  /// was set after the reminder had been sent.
  bool due(uint64_t epoch) noexcept {
    if (epoch != epoch_ || !armed_)
      return false;
    armed_.reset();
    return true;
  }

  /// The time of the pending reminder; nullopt: there is none.
  std::optional<time_point> armed() const noexcept { return armed_; }

private:
  std::optional<time_point> armed_;
  uint64_t epoch_ = 0;
};

} // namespace headrace::port
