#pragma once

#include "headrace/actors/stream/handout.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace headrace::detail {

/// Decides when the elements in use of one stream, which the trainer was handed with its last call,
/// are reported as handed out. If the trainer is killed before that, they are given to another
/// trainer or counted as lost, because the trainer may not have begun to use them.
///
/// They are reported when the trainer has requested the next element, or when it has kept them for
/// some time. The reason for the latter is that other trainers may wait for the report while this
/// trainer uses its last element for long. Pure.
class elements_in_use {
public:
  /// Elements that the trainer has had for this long, or up to twice as long, count as begun.
  static constexpr duration long_enough = std::chrono::milliseconds{50};

  elements_in_use() = default;
  /// `withheld`: false if elements in use are reported at once, because no other trainer could be
  /// given them.
  explicit elements_in_use(bool withheld) : withholds_(withheld) {}

  /// The number of elements that count as handed out.
  uint64_t handed_out(const handout::marks& marks) const {
    if (!withholds_)
      return marks.handed_out;
    return std::max(marks.handed_out - marks.in_use, std::min(begun_, marks.handed_out));
  }
  /// To be called with the marks of `handout::look`. Returns true if, since the last call, the
  /// time has come at which elements count as begun.
  bool update(const handout::marks& marks, time_point now) {
    drained_ = marks.handed_out == marks.received;
    const bool came = is_due(now);
    if (came) {
      begun_ = begins_;
      begun_at_.reset();
    }
    // A time is set only if none is pending, so that a fast trainer does not cause many reports.
    if (withholds_ && !begun_at_ && marks.in_use != 0 && begun_ < marks.handed_out) {
      begun_at_ = now + long_enough;
      begins_ = marks.handed_out;
    }
    return came;
  }
  /// Returns `handed_out`, which is then reported to the task.
  uint64_t report(const handout::marks& marks) {
    reported_ = handed_out(marks);
    withheld_ = reported_ != marks.handed_out;
    return reported_;
  }
  /// True if elements that the last report left out count as handed out now.
  bool has_more_to_report(const handout::marks& marks) const {
    return withheld_ && reported_ < handed_out(marks);
  }
  bool is_due(time_point now) const { return begun_at_ && *begun_at_ <= now; }
  /// The time at which `update` must be called even if no event arrives. Nullopt while the consumer
  /// has elements that were not handed out: a recall can give those to a waiting trainer, so the
  /// report of the elements in use is not urgent.
  std::optional<time_point> deadline() const { return drained_ ? begun_at_ : std::nullopt; }

private:
  bool withholds_ = false;
  bool drained_ = false;  ///< all received elements were handed out
  bool withheld_ = false; ///< the last report left out elements in use
  uint64_t reported_ = 0; ///< the elements that were reported last
  uint64_t begun_ = 0;    ///< elements that the trainer has had for long enough
  uint64_t begins_ = 0;   ///< the elements before this number count as begun at `begun_at_`
  std::optional<time_point> begun_at_;
};

} // namespace headrace::detail
