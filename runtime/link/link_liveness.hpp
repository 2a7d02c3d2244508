#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/status.hpp"

namespace headrace {

/// No end of a link promises pings more rarely than this.
inline constexpr duration longest_ping_interval = std::chrono::hours{1};

/// How the ends of a link find out that the other one, or the way to it, is gone.
struct link_liveness {
  /// An open link with nothing else to send carries a ping this often. Positive, at most
  /// `longest_ping_interval`.
  duration ping_every = std::chrono::seconds{1};
  /// A link on which nothing at all arrives for this long is closed, if the peer has promised pings
  /// (and twice the promised interval is no longer than that; else after twice the interval). At
  /// least `2 * ping_every`.
  duration silent_for = std::chrono::seconds{5};

  /// Invalid argument, naming the values, if they are not as said above.
  status check() const;
};

/// When one end of a link pings, and when it gives its peer up. Pure: takes the time, does nothing.
///
/// Only what arrives counts. Writes that make no progress do not: a full socket buffer is what a
/// slow reader looks like, and as long as its pings come it is alive and may take its time. A peer
/// that has stopped reading for good because it hangs sends no pings either. And where only our
/// bytes are lost on the way, the peer hears nothing and closes the link.
class silence_watch {
public:
  /// `promised`: the interval of the peer's hello; zero: its silence is not judged.
  silence_watch(const link_liveness& ours, duration promised, time_point now);

  /// From now on what arrives is read, so that its absence means something.
  void begin(time_point now);
  /// Something arrived since the last `look`.
  void heard() noexcept { heard_ = true; }

  enum class verdict : uint8_t { well, ping_due, silent };
  /// To be called at `next()`.
  verdict look(time_point now);
  /// When to look again.
  time_point next() const noexcept;
  /// How long nothing has arrived.
  duration silence(time_point now) const noexcept { return now - heard_at_; }
  /// After how long a silence the peer is given up; zero: never.
  duration limit() const noexcept { return limit_; }

private:
  duration ping_every_;
  duration limit_;
  bool judging_ = false;
  bool heard_ = false;
  time_point heard_at_{};
  time_point next_ping_{};
};

} // namespace headrace
