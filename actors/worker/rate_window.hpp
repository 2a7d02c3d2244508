#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <cstdint>
#include <deque>

namespace headrace::detail {

/// The rate at which a count has grown in the last seconds. The time is long enough to average over
/// blocks that come in bursts, and short enough for a current rate.
class rate_window {
public:
  static constexpr duration length = std::chrono::seconds{10};

  /// Adds the count at `now`, which is later than in the previous call. Growth is counted from the
  /// first call.
  void add(time_point now, uint64_t count) {
    points_.push_back({now, count});
    // The remaining points span at least `length`, unless all points together span less.
    while (points_.size() > 2 && now - points_[1].when >= length) points_.pop_front();
  }
  double per_second() const {
    if (points_.size() < 2)
      return 0;
    const auto& [from, first] = points_.front();
    const auto& [to, last] = points_.back();
    const auto seconds = in_seconds(to - from);
    return seconds > 0 ? (static_cast<double>(last) - static_cast<double>(first)) / seconds : 0;
  }

private:
  struct point {
    time_point when;
    uint64_t count;
  };
  std::deque<point> points_;
};

} // namespace headrace::detail
