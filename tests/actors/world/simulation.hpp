#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <utility>

namespace headrace::detail::test {

/// Virtual time: a queue of future events in the order of their times, and a random generator. The
/// same seed gives the same history.
class simulation {
public:
  explicit simulation(uint64_t seed) : random_(seed) {}

  time_point now() const noexcept { return now_; }
  uint64_t events() const noexcept { return events_; }

  void at(time_point when, std::function<void()> what) {
    due_.emplace(std::pair{std::max(when, now_), ++last_}, std::move(what));
  }
  void after(duration delay, std::function<void()> what) { at(now_ + delay, std::move(what)); }

  /// Runs the next event. Returns false if there is none.
  bool step() {
    if (due_.empty())
      return false;
    auto next = due_.extract(due_.begin());
    now_ = next.key().first;
    ++events_;
    next.mapped()();
    return true;
  }
  /// Runs all events until `when`.
  void run_until(time_point when) {
    while (!due_.empty() && due_.begin()->first.first <= when) step();
    now_ = std::max(now_, when);
  }

  /// A random number below `n`, which is not zero.
  uint64_t below(uint64_t n) { return random_() % n; }
  /// A random number from `low` to `high`, both included.
  uint64_t between(uint64_t low, uint64_t high) { return low + below(high - low + 1); }
  duration between(duration low, duration high) {
    return low
           + duration{static_cast<int64_t>(below(static_cast<uint64_t>((high - low).count()) + 1))};
  }
  bool one_in(uint64_t n) { return below(n) == 0; }

private:
  std::mt19937_64 random_;
  time_point now_{std::chrono::hours{1}};
  uint64_t events_ = 0;
  uint64_t last_ = 0;
  std::map<std::pair<time_point, uint64_t>, std::function<void()>> due_;
};

} // namespace headrace::detail::test
