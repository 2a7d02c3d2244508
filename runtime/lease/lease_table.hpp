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

/// Decides which holders of leases are alive. Pure: it is given heartbeats with the time, and
/// `advance` returns the holders whose leases have expired.
///
/// If the owner of the table was away itself (restarted, stopped, without processor time),
/// heartbeats could not arrive, so no lease expires for the length of one lease. The owner calls
/// `returned` in that case. The table also detects the absence itself: the owner calls `advance` at
/// each `next_deadline`, so a longer pause than `longest_look_away` means that the owner was away.
template <class Id>
class lease_table {
public:
  /// `lease`: for how long a holder counts as alive after its last message.
  explicit lease_table(duration lease) : lease_(lease) {}
  /// The longest pause between calls of `advance` that is not taken for an absence of the owner: a
  /// quarter of the lease. Heartbeats come at least twice a lease, so one that such a pause delays
  /// is read at most three quarters of a lease after the previous one, and no lease expires.
  duration longest_look_away() const noexcept { return lease_ / 4; }

  /// Gives a new or present holder a full lease.
  void grant(const Id& holder, time_point now) {
    look(now);
    auto& x = holders_[holder];
    unschedule(holder, x);
    x = {now, std::max(now + lease_, held_until_)};
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
    held_until_ = now + lease_;
    for (auto& [holder, x] : holders_) {
      unschedule(holder, x);
      x.expires = std::max(x.expires, held_until_);
      schedule(holder, x);
    }
  }

  /// Removes the leases that have expired by `now`, and returns their holders, in the order of the
  /// times.
  std::vector<Id> advance(time_point now) {
    std::vector<Id> out;
    look(now);
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
      out.push_back(deadlines_.begin()->second);
      release(out.back());
    }
    return out;
  }
  /// When to call `advance` if it is not called before: at the next expiry, or early enough to
  /// detect that the owner was away. An actor sets one timer for this time. Nullopt: there are no
  /// holders.
  std::optional<time_point> next_deadline() const {
    if (deadlines_.empty())
      return {};
    return std::min(deadlines_.begin()->first, seen_ + longest_look_away() / 2);
  }

  bool contains(const Id& holder) const { return holders_.contains(holder); }
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
  };

  void look(time_point now) {
    if (!holders_.empty() && now - seen_ > longest_look_away())
      returned(now);
    seen_ = std::max(seen_, now);
  }
  void schedule(const Id& holder, const lease& x) { deadlines_.emplace(x.expires, holder); }
  void unschedule(const Id& holder, const lease& x) { deadlines_.erase({x.expires, holder}); }

  duration lease_;
  time_point seen_{}; ///< the time of the last call of `grant`, `renew` or `advance`
  time_point held_until_{};
  std::map<Id, lease> holders_;
  std::set<std::pair<time_point, Id>> deadlines_;
};

} // namespace headrace::detail
