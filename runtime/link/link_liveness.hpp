#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/status.hpp"

namespace headrace {

/// The longest ping interval that an end of a link may promise.
inline constexpr duration longest_ping_interval = std::chrono::hours{1};

/// How an end of a link detects that the other end, or the network between them, no longer works.
struct link_liveness {
  /// The interval of pings on an open link that has nothing else to send. Positive, at most
  /// `longest_ping_interval`.
  duration ping_every = std::chrono::seconds{1};
  /// A link is closed if nothing arrives on it for this time or, if that is longer, for twice the
  /// interval of pings that the peer has promised. If the peer has promised no pings, the link is
  /// not closed. This time must be at least `2 * ping_every`.
  duration silent_for = std::chrono::seconds{5};

  /// Returns `invalid_argument`, with the values, if they violate the conditions above; else ok.
  status check() const;
};

/// Decides when one end of a link sends pings, and when it closes the link because its peer is
/// silent. Pure: it is given the time, and only returns decisions.
///
/// Only arriving bytes show that the peer is alive. Blocked writes show nothing: writes to a slow
/// peer are blocked, too, because the socket buffer is full, and a slow peer still sends its pings.
/// A peer that hangs sends no pings. If bytes are lost only in the direction to the peer, the peer
/// receives nothing and closes the link.
class silence_watch {
public:
  /// `promised`: the interval in the peer's hello; zero: the peer's silence is ignored.
  silence_watch(const link_liveness& ours, duration promised, time_point now);

  /// To be called when this end begins to read: silence counts from now on.
  void begin(time_point now);
  /// To be called when bytes have arrived.
  void heard() noexcept { heard_ = true; }

  enum class verdict : uint8_t { well, ping_due, silent };
  /// To be called at `next()`.
  verdict look(time_point now);
  /// The time at which `look` must be called again.
  time_point next() const noexcept;
  /// The time for which nothing has arrived.
  duration silence(time_point now) const noexcept { return now - heard_at_; }
  /// The silence after which the link is closed; zero: never.
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
