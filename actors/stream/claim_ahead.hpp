#pragma once

#include <algorithm>
#include <cstdint>

namespace headrace {

/// How far ahead of its trainer a consumer claims elements of a stream that others share. Only what
/// is claimed and confirmed is handed out, and all of it counts as handed out where the consumer is
/// gone without a word: so it claims about what the trainer takes while the answer is under way.
/// Pure.
class claim_ahead {
public:
  /// That much may be handed out without a claim.
  static constexpr uint64_t least = 16;
  static constexpr uint64_t most = uint64_t{1} << 20;

  struct progress {
    uint64_t handed_out = 0;
    uint64_t received = 0;
    uint64_t confirmed = 0; ///< `<= received`
    bool held_up = false;   ///< the trainer had all that was confirmed, and more was there
  };
  /// Is a claim worth a message? Elements are here that were not claimed, and the trainer is
  /// through with half of what was.
  bool update(const progress& now) {
    if (now.confirmed >= now.received)
      return false;
    if (now.held_up && now.confirmed != grown_at_) {
      grown_at_ = now.confirmed;
      ahead_ = std::min(2 * ahead_, most);
    }
    return said_ <= now.handed_out + ahead_ / 2;
  }
  /// What is claimed with the message that goes now: up to this element.
  uint64_t claim(uint64_t handed_out) { return said_ = handed_out + ahead_; }
  /// An answer came, and this is how it was before. If the trainer took little meanwhile, less is
  /// claimed from here on.
  void answered(const progress& before) {
    if (before.confirmed > before.handed_out + ahead_ * 3 / 8)
      ahead_ = std::max(ahead_ / 2, least);
  }
  /// Elements from `mark` on were given back.
  void gave_back(uint64_t mark) { said_ = std::min(said_, mark); }

private:
  uint64_t ahead_ = least;
  uint64_t said_ = 0;     ///< claimed, with the newest message
  uint64_t grown_at_ = 0; ///< confirmed when the trainer last had to wait
};

} // namespace headrace
