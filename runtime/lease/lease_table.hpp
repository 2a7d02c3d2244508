#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace headrace {

struct lease_options {
  /// How often a holder says that it lives.
  duration heartbeat = std::chrono::seconds{1};
  /// How long it counts as alive after it last said so.
  duration lease = std::chrono::seconds{5};
  /// How long it may take to connect again before it counts as unreachable.
  duration reconnect = std::chrono::milliseconds{250};
};

/// Who is alive. Pure: it is told of heartbeats and lost connections, and asked what is over.
///
/// A lost connection is no death: a holder that is back within the reconnect time was never away,
/// one that is not is reported as unreachable (give it nothing new), and only the end of its lease
/// is its end. Who was itself away (started anew, stopped, starved) has heard nobody meanwhile:
/// then nobody ends for one full lease. `returned` says so; it also shows in that the table was
/// left alone for longer than `longest_look_away`, as its keeper looks at it at each
/// `next_deadline`, which comes more often than that.
template <class Id>
class lease_table {
public:
  enum class change : uint8_t {
    unreachable, ///< not connected for the reconnect time; still a holder
    expired,     ///< the lease is over; forgotten
  };
  struct event {
    Id holder;
    change what;
    friend bool operator==(const event&, const event&) = default;
  };

  explicit lease_table(lease_options options = {}) : options_(options) {}
  const lease_options& options() const noexcept { return options_; }
  /// A quarter of the lease: with heartbeats of half a lease, what is shorter costs nobody its own.
  duration longest_look_away() const noexcept { return options_.lease / 4; }

  /// A holder, new or known, begins a full lease, connected.
  void grant(const Id& holder, time_point now) {
    look(now);
    auto& x = holders_[holder];
    unschedule(holder, x);
    x = {now, std::max(now + options_.lease, held_until_), std::nullopt};
    schedule(holder, x);
  }
  /// A heartbeat, or any other sign of life. False: it holds no lease and must be granted one.
  bool renew(const Id& holder, time_point now) {
    if (!contains(holder))
      return false;
    grant(holder, now);
    return true;
  }
  /// The connection to a holder broke. Nothing if it holds no lease.
  void disconnected(const Id& holder, time_point now) {
    auto at = holders_.find(holder);
    if (at == holders_.end() || at->second.unreachable_at)
      return;
    unschedule(holder, at->second);
    at->second.unreachable_at = now + options_.reconnect;
    schedule(holder, at->second);
  }
  /// A holder that says goodbye. False: it held no lease.
  bool release(const Id& holder) {
    auto at = holders_.find(holder);
    if (at == holders_.end())
      return false;
    unschedule(holder, at->second);
    holders_.erase(at);
    return true;
  }
  /// Whoever keeps this table was away until now.
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

  /// What is over by now, the earliest first.
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
  /// When to call `advance`, if nothing is heard before: as it has something to say then, or to
  /// notice an absence. An actor arms one timer for it. Nullopt: there are no holders.
  std::optional<time_point> next_deadline() const {
    if (deadlines_.empty())
      return {};
    return std::min(deadlines_.begin()->first, seen_ + longest_look_away() / 2);
  }

  bool contains(const Id& holder) const { return holders_.contains(holder); }
  /// Holds a lease and is not known to be unreachable.
  bool reachable(const Id& holder) const {
    auto at = holders_.find(holder);
    return at != holders_.end() && !at->second.told;
  }
  /// When it last gave a sign of life.
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
    bool told = false; ///< reported as unreachable
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
  time_point seen_{}; ///< when somebody looked here last
  time_point held_until_{};
  std::map<Id, lease> holders_;
  std::set<std::pair<time_point, Id>> deadlines_;
};

} // namespace headrace
