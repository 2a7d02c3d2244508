#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace headrace::detail {

struct lease_options {
  /// The time between two reports of a holder that it is alive.
  duration heartbeat = std::chrono::seconds{1};
  /// For how long a holder counts as alive after its last report.
  duration lease = std::chrono::seconds{5};
  /// The time from the loss of a holder's connection until the holder counts as unreachable.
  duration reconnect = std::chrono::milliseconds{250};
};

/// Decides which holders of leases are alive. Pure: it is given heartbeats and lost connections
/// with the time, and `advance` returns the changes.
///
/// A lost connection does not end a lease. A holder that connects again within the reconnect time
/// is not reported; otherwise it is reported as unreachable (the owner should give it nothing new),
/// and removed only when its lease expires. If the owner of the table was away itself (restarted,
/// stopped, without processor time), heartbeats could not arrive, so no lease expires for the
/// length of one lease. The owner calls `returned` in that case. The table also detects the absence
/// itself: the owner calls `advance` at each `next_deadline`, so a longer pause than
/// `longest_look_away` means that the owner was away.
template <class Id>
class lease_table {
public:
  enum class change : uint8_t {
    unreachable, ///< the holder has not been connected for the reconnect time; it keeps its lease
    expired,     ///< the lease has expired, and is removed
  };
  struct event {
    Id holder;
    change what;
    friend bool operator==(const event&, const event&) = default;
  };

  explicit lease_table(lease_options options = {}) : options_(options) {}
  const lease_options& options() const noexcept { return options_; }
  /// The longest pause between calls of `advance` that is not taken for an absence of the owner: a
  /// quarter of the lease. Heartbeats come at least twice a lease, so that a shorter pause cannot
  /// make a live holder's lease expire.
  duration longest_look_away() const noexcept { return options_.lease / 4; }

  /// Gives a new or present holder a full lease. The holder counts as connected.
  void grant(const Id& holder, time_point now) {
    look(now);
    auto& x = holders_[holder];
    unschedule(holder, x);
    x = {now, std::max(now + options_.lease, held_until_), std::nullopt};
    schedule(holder, x);
  }
  /// Renews the lease of a holder that has sent a heartbeat or any other message. False: the holder
  /// has no lease, and needs `grant`.
  bool renew(const Id& holder, time_point now) {
    if (!contains(holder))
      return false;
    grant(holder, now);
    return true;
  }
  /// Records that the connection to a holder was lost. Does nothing if the holder has no lease.
  void disconnected(const Id& holder, time_point now) {
    auto at = holders_.find(holder);
    if (at == holders_.end() || at->second.unreachable_at)
      return;
    unschedule(holder, at->second);
    at->second.unreachable_at = now + options_.reconnect;
    schedule(holder, at->second);
  }
  /// Removes the lease of a holder that leaves. False: the holder had no lease.
  bool release(const Id& holder) {
    auto at = holders_.find(holder);
    if (at == holders_.end())
      return false;
    unschedule(holder, at->second);
    holders_.erase(at);
    return true;
  }
  /// To be called when the owner of this table was away until `now`.
  void returned(time_point now) {
    held_until_ = now + options_.lease;
    for (auto& [holder, x] : holders_) {
      unschedule(holder, x);
      x.expires = std::max(x.expires, held_until_);
      if (x.unreachable_at && !x.told)
        x.unreachable_at = std::max(*x.unreachable_at, now + options_.reconnect);
      schedule(holder, x);
    }
  }

  /// Returns the events that are due by `now`, in the order of their times.
  std::vector<event> advance(time_point now) {
    std::vector<event> out;
    look(now);
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
      auto holder = deadlines_.begin()->second;
      auto at = holders_.find(holder);
      auto& x = at->second;
      unschedule(holder, x);
      if (deadline(x) == x.expires) {
        holders_.erase(at);
        out.push_back({holder, change::expired});
      } else {
        x.told = true;
        schedule(holder, x);
        out.push_back({holder, change::unreachable});
      }
    }
    return out;
  }
  /// When to call `advance` if it is not called before: at the next event, or early enough to
  /// detect that the owner was away. An actor sets one timer for this time. Nullopt: there are no
  /// holders.
  std::optional<time_point> next_deadline() const {
    if (deadlines_.empty())
      return {};
    return std::min(deadlines_.begin()->first, seen_ + longest_look_away() / 2);
  }

  bool contains(const Id& holder) const { return holders_.contains(holder); }
  /// True if the holder has a lease and was not reported as unreachable since its last message.
  bool reachable(const Id& holder) const {
    auto at = holders_.find(holder);
    return at != holders_.end() && !at->second.told;
  }
  /// The time of the holder's last message.
  std::optional<time_point> renewed(const Id& holder) const {
    auto at = holders_.find(holder);
    return at != holders_.end() ? std::optional{at->second.renewed} : std::nullopt;
  }
  size_t size() const noexcept { return holders_.size(); }

private:
  struct lease {
    time_point renewed{};
    time_point expires{};
    std::optional<time_point> unreachable_at{};
    bool told = false; ///< the holder was reported as unreachable
  };

  static time_point deadline(const lease& x) {
    return x.unreachable_at && !x.told ? std::min(x.expires, *x.unreachable_at) : x.expires;
  }
  void look(time_point now) {
    if (!holders_.empty() && now - seen_ > longest_look_away())
      returned(now);
    seen_ = std::max(seen_, now);
  }
  void schedule(const Id& holder, const lease& x) { deadlines_.emplace(deadline(x), holder); }
  void unschedule(const Id& holder, const lease& x) { deadlines_.erase({deadline(x), holder}); }

  lease_options options_;
  time_point seen_{}; ///< the time of the last call of `grant`, `renew` or `advance`
  time_point held_until_{};
  std::map<Id, lease> holders_;
  std::set<std::pair<time_point, Id>> deadlines_;
};

} // namespace headrace::detail
