#pragma once

#include "headrace/actors/protocol/reader_messages.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <algorithm>
#include <deque>

namespace headrace::detail {

/// The pace of a reader in the last seconds, from the totals in its heartbeats. Pure.
class pace_window {
public:
  /// The length of the window, which is equal to that of the operators' activity.
  static constexpr duration length = std::chrono::seconds{4};

  /// Adds the totals of a heartbeat. Totals that do not continue the earlier ones begin a new
  /// window.
  void add(const reader_pace& totals) {
    const auto later = [](const reader_pace& a, const reader_pace& b) {
      return a.elapsed < b.elapsed && a.waited <= b.waited && a.elements <= b.elements
             && a.bytes <= b.bytes;
    };
    if (!points_.empty() && !later(points_.back(), totals))
      points_.clear();
    points_.push_back(totals);
    // The remaining points span at least `length`, unless all points together span less.
    while (points_.size() > 2 && totals.elapsed - points_[1].elapsed >= length) points_.pop_front();
  }

  struct recent {
    double waited = -1; ///< the share of time in which the trainer waited; negative: unknown yet
    double elements_per_second = 0;
    double bytes_per_second = 0;
  };
  recent of_late() const {
    if (points_.size() < 2)
      return {};
    const auto &a = points_.front(), &b = points_.back();
    const auto seconds = in_seconds(b.elapsed - a.elapsed);
    return {std::min(1., in_seconds(b.waited - a.waited) / seconds),
            static_cast<double>(b.elements - a.elements) / seconds,
            static_cast<double>(b.bytes - a.bytes) / seconds};
  }
  /// @pre `add` was called
  const reader_pace& newest() const { return points_.back(); }

private:
  std::deque<reader_pace> points_;
};

} // namespace headrace::detail
