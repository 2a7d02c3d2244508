#include "headrace/runtime/link/link_liveness.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace headrace {

status link_liveness::check() const {
  const auto text = [](duration x) { return fmt::format("{} s", in_seconds(x)); };
  if (ping_every <= duration::zero() || ping_every > longest_ping_interval)
    return invalid_argument("the interval of a link's pings is " + text(ping_every)
                            + "; it must be longer than zero and at most an hour");
  // The condition is written without the product, which may overflow.
  if (silent_for <= duration::zero() || silent_for - ping_every < ping_every)
    return invalid_argument(
      "a link's peer would be given up after a silence of " + text(silent_for)
      + " with a ping every " + text(ping_every)
      + "; it must be at least twice as long, or one late ping ends the link");
  return {};
}

silence_watch::silence_watch(const link_liveness& ours, duration promised, time_point now)
  : ping_every_(ours.ping_every),
    limit_(promised == duration::zero() ? duration::zero()
                                        : std::max(ours.silent_for, 2 * promised)),
    heard_at_(now),
    next_ping_(now + ping_every_) {}

void silence_watch::begin(time_point now) {
  if (judging_)
    return;
  judging_ = limit_ != duration::zero();
  heard_at_ = now;
}

silence_watch::verdict silence_watch::look(time_point now) {
  if (std::exchange(heard_, false))
    heard_at_ = now;
  if (judging_ && now - heard_at_ >= limit_)
    return verdict::silent;
  if (now < next_ping_)
    return verdict::well;
  next_ping_ = now + ping_every_;
  return verdict::ping_due;
}

time_point silence_watch::next() const noexcept {
  if (!judging_ || limit_ - (next_ping_ - heard_at_) >= duration::zero())
    return next_ping_;
  return heard_at_ + limit_;
}

} // namespace headrace
