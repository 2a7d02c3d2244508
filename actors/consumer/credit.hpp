#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace headrace {

/// How much of one stream a consumer asks for in advance. A stream of a shared job starts small and grows while the
/// trainer keeps up, so that a consumer that never reads takes little from the others. Pure.
class stream_credit {
public:
  struct window {
    uint64_t elements = 0; ///< total of the stream
    uint64_t bytes = 0;
  };
  static constexpr uint64_t first_elements = 16;
  static constexpr uint64_t unbounded = uint64_t{1} << 40;

  stream_credit() = default;
  /// `most_elements`: 0 for no bound.
  stream_credit(bool shared, uint64_t most_elements, uint64_t bytes)
    : most_(most_elements == 0 ? unbounded : most_elements),
      elements_(std::min(shared ? first_elements : unbounded, most_)),
      bytes_(bytes) {}

  /// What to grant now that `handed_out` of `received` elements were taken. True if that is worth telling: half the
  /// window was used since the last time, or the trainer waits.
  bool update(uint64_t handed_out, uint64_t received, bool waiting) {
    // All that came was taken: the trainer is faster than this window.
    if (handed_out == received && handed_out >= granted_from_ + elements_)
      elements_ = std::min(elements_ * 2, most_);
    const bool moved = handed_out > told_;
    const bool half = handed_out - told_ >= std::max<uint64_t>(elements_ / 2, 1);
    if (!moved || !(half || waiting || elements_ >= unbounded / 2))
      return false;
    told_ = granted_from_ = handed_out;
    return true;
  }
  window now(uint64_t handed_out) const { return {handed_out + elements_, bytes_}; }
  /// The stream was told all of this by `open` and a first grant.
  void reopened(uint64_t handed_out) { told_ = granted_from_ = handed_out; }

private:
  uint64_t most_ = unbounded;
  uint64_t elements_ = unbounded;
  uint64_t bytes_ = 4 << 20;
  uint64_t told_ = 0;
  uint64_t granted_from_ = 0;
};

} // namespace headrace
