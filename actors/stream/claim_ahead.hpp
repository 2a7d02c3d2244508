#pragma once

#include <algorithm>
#include <cstdint>

namespace headrace::detail {

/// Decides how far ahead of its trainer a consumer of a shared job claims elements of a stream.
/// Only claimed and confirmed elements are handed out, and all of these are lost if the consumer is
/// lost. So the consumer claims about as many elements as the trainer takes in the time from a
/// claim to its confirmation. Pure.
class claim_ahead {
public:
  /// The least number of elements that are claimed ahead of the trainer. The task counts this many
  /// elements after the taken ones as claimed, even without a claim.
  static constexpr uint64_t least = 16;
  static constexpr uint64_t most = uint64_t{1} << 20;

  struct progress {
    uint64_t handed_out = 0;
    uint64_t received = 0;
    uint64_t confirmed = 0; ///< `<= received`
    bool held_up = false; ///< the trainer took all confirmed elements, and more have been received
  };
  /// True if a claim is to be sent: some received elements are not confirmed, and at most
  /// `ahead_ / 2` of the claimed elements were not handed out yet. If the trainer was held up,
  /// `ahead_`, the number of elements that are claimed ahead of the trainer, is first doubled.
  bool update(const progress& now) {
    if (now.confirmed >= now.received)
      return false;
    if (now.held_up && now.confirmed != grown_at_) {
      grown_at_ = now.confirmed;
      ahead_ = std::min(2 * ahead_, most);
    }
    return said_ <= now.handed_out + ahead_ / 2;
  }
  /// Returns the next claim: the consumer claims all elements below the returned number.
  uint64_t claim(uint64_t handed_out) { return said_ = handed_out + ahead_; }
  /// A claim was confirmed; `before` is the progress before the confirmation. If the trainer took
  /// few elements until then, later claims are smaller.
  void answered(const progress& before) {
    if (before.confirmed > before.handed_out + ahead_ * 3 / 8)
      ahead_ = std::max(ahead_ / 2, least);
  }
  /// Elements from `mark` on were given back.
  void gave_back(uint64_t mark) { said_ = std::min(said_, mark); }

private:
  uint64_t ahead_ = least;
  uint64_t said_ = 0;     ///< the newest claim
  uint64_t grown_at_ = 0; ///< the number of confirmed elements when the trainer last had to wait
};

} // namespace headrace::detail
