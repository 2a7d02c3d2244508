#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace headrace {

/// How much of one stream a consumer asks for in advance. A stream of a shared job starts small and
/// grows while the trainer keeps up, so that a consumer that never reads takes little from the
/// others. Pure.
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

  /// What to grant now that `handed_out` of `received` elements were taken and `held` bytes are
  /// left. True if that is worth telling: half of the elements were used since the last time (or
  /// anything, if `always`), half of the bytes are free, or the trainer began to wait.
  bool update(uint64_t handed_out, uint64_t received, uint64_t held, bool waiting,
              bool always = false) {
    // A full window was taken and nothing is left of it: the trainer is faster than this window.
    if (handed_out == received && handed_out - grown_at_ >= elements_) {
      elements_ = std::min(elements_ * 2, most_);
      grown_at_ = handed_out;
    }
    const bool moved = handed_out > told_;
    const bool half = handed_out - told_ >= std::max<uint64_t>(elements_ / 2, 1);
    // The task forgets that we wait when it sends something, so it is told again after that.
    const bool waits_anew = waiting && (moved || !told_waiting_ || told_received_ != received);
    if (!waits_anew && !(moved && (half || always || held <= bytes_ / 2)))
      return false;
    told_ = handed_out;
    told_waiting_ = waiting;
    told_received_ = received;
    return true;
  }
  window now(uint64_t handed_out) const { return {handed_out + elements_, bytes_}; }
  /// `open` and a first grant told the stream all of this.
  void reopened(uint64_t handed_out, uint64_t received, bool waiting) {
    told_ = handed_out;
    told_received_ = received;
    told_waiting_ = waiting;
  }
  /// Elements are so large that hardly one fits: makes room for three, within `most` bytes.
  void make_room(uint64_t element_bytes, uint64_t most) {
    bytes_ = std::max(bytes_, std::min(3 * element_bytes, most));
  }
  /// The task sent or recalled something, and no longer counts on the trainer waiting: it is told
  /// again when that is so, even if the counts of elements are what they were.
  void task_forgot() { told_waiting_ = false; }
  /// Other streams share the bound on elements. What was granted already may still come.
  void bound(uint64_t most_elements) {
    most_ = std::max<uint64_t>(most_elements, 1);
    elements_ = std::min(elements_, most_);
  }

private:
  uint64_t most_ = unbounded;
  uint64_t elements_ = unbounded;
  uint64_t bytes_ = 4 << 20;
  uint64_t told_ = 0; ///< handed out, as the task knows it
  uint64_t told_received_ = 0;
  bool told_waiting_ = false;
  uint64_t grown_at_ = 0; ///< handed out when the window last grew
};

} // namespace headrace
