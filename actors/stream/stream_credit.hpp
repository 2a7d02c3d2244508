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
    : shared_(shared),
      most_(most_elements == 0 ? unbounded : most_elements),
      elements_(std::min(shared ? first_elements : unbounded, most_)),
      bytes_(bytes) {}

  /// Of a stream whose elements are for this consumer alone, and whose task must know how far it
  /// is: bounded by bytes.
  static stream_credit of_own_elements(uint64_t bytes) {
    stream_credit out{true, 0, bytes};
    out.elements_ = out.most_;
    return out;
  }

  /// How far a stream is.
  struct progress {
    uint64_t handed_out = 0; ///< elements
    uint64_t received = 0;   ///< elements
    uint64_t held = 0;       ///< bytes that are not handed out
    uint64_t taken = 0;      ///< bytes of all blocks that the trainer is through with
    bool waiting = false;    ///< the trainer, for elements of any stream
    bool ended = false;      ///< nothing more is sent
  };
  /// What to grant now that the stream is so far. True if that is worth telling. Always: half of
  /// the elements were used since the last time, or anything, if `always`. In a shared job, whose
  /// task must know who is hungry: half of the bytes are free, or the trainer began to wait, or it
  /// waits no more and holds something. With
  /// one consumer: a quarter of the bytes was used, so that the task need not stop; or the last
  /// element was handed out.
  bool update(const progress& now, bool always = false) {
    // A full window was taken and nothing is left of it: the trainer is faster than this window.
    if (now.handed_out == now.received && now.handed_out - grown_at_ >= elements_) {
      elements_ = std::min(elements_ * 2, most_);
      grown_at_ = now.handed_out;
    }
    const bool moved = now.handed_out > told_;
    const bool half = now.handed_out - told_ >= std::max<uint64_t>(elements_ / 2, 1);
    const bool freed =
      shared_ ? now.held <= bytes_ / 2 : now.taken - told_taken_ >= quiet_bytes() || now.ended;
    // The task forgets that we wait when it sends something, so it is told again after that.
    const bool waits_anew =
      shared_ && now.waiting && (moved || !told_waiting_ || told_received_ != now.received);
    // Who waits is thought to take what is there, so that it is not asked to give that to others.
    const bool needs_no_more =
      shared_ && said_waiting_ && !now.waiting && now.received > now.handed_out;
    if (!waits_anew && !needs_no_more && !(moved && (half || always || freed)))
      return false;
    told_ = now.handed_out;
    told_taken_ = now.taken;
    told_waiting_ = said_waiting_ = now.waiting;
    told_received_ = now.received;
    return true;
  }
  /// How many bytes the trainer may take before `update` has something to tell, as long as the
  /// stream has not ended.
  uint64_t quiet_bytes() const noexcept {
    return shared_ || elements_ != unbounded ? 0 : bytes_ / 4;
  }
  window now(uint64_t handed_out) const { return {handed_out + elements_, bytes_}; }
  /// `open` and a first grant told the stream all of this.
  void reopened(const progress& now) {
    told_ = now.handed_out;
    told_taken_ = now.taken;
    told_received_ = now.received;
    told_waiting_ = said_waiting_ = now.waiting;
  }
  /// Elements are so large that hardly one fits: makes room for three, within `most` bytes.
  void make_room(uint64_t element_bytes, uint64_t most) {
    bytes_ = std::max(bytes_, std::min(3 * element_bytes, most));
  }
  /// A message said whether the trainer waits.
  void said(bool waiting) { said_waiting_ = waiting; }
  /// The task sent or recalled something, and no longer counts on the trainer waiting: it is told
  /// again when that is so, even if the counts of elements are what they were.
  void task_forgot() { told_waiting_ = false; }
  /// Shares the bounds with so many other streams that this is its part. What was granted already
  /// may still come. True: it is worth a grant, as there is more than before.
  bool bound(uint64_t most_elements, uint64_t most_bytes) {
    const auto elements = elements_, bytes = bytes_;
    // A window that is not still growing is all there is.
    const bool full = elements_ == most_;
    most_ = std::max<uint64_t>(most_elements, 1);
    elements_ = !shared_ || full ? most_ : std::min(elements_, most_);
    bytes_ = most_bytes;
    return elements_ > elements || bytes_ > bytes;
  }

private:
  bool shared_ = false;
  uint64_t most_ = unbounded;
  uint64_t elements_ = unbounded;
  uint64_t bytes_ = 4 << 20;
  uint64_t told_ = 0; ///< handed out, as the task knows it
  uint64_t told_taken_ = 0;
  uint64_t told_received_ = 0;
  bool told_waiting_ = false; ///< and it counts on that
  bool said_waiting_ = false; ///< by the last message, which the task may have had after it sent
  uint64_t grown_at_ = 0;     ///< handed out when the window last grew
};

} // namespace headrace
