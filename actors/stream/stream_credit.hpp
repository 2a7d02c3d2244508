#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace headrace::detail {

/// Decides how much credit a consumer grants for one stream. A stream of a shared job starts with a
/// small window, which grows while the trainer takes elements as fast as they arrive. So a consumer
/// that never reads takes few elements from the others. Pure.
class stream_credit {
public:
  struct window {
    uint64_t elements = 0; ///< the total number that may be sent on the stream
    uint64_t bytes = 0;
  };
  static constexpr uint64_t first_elements = 16;
  static constexpr uint64_t unbounded = uint64_t{1} << 40;

  stream_credit() = default;
  /// `most_elements`: the bound of the window; 0: no bound
  stream_credit(bool shared, uint64_t most_elements, uint64_t bytes)
    : shared_(shared),
      most_(most_elements == 0 ? unbounded : most_elements),
      elements_(std::min(shared ? first_elements : unbounded, most_)),
      bytes_(bytes) {}

  /// For a stream whose elements can go to no other consumer, but whose task needs reports of how
  /// many were received and handed out: the credit is bounded by bytes alone.
  static stream_credit of_own_elements(uint64_t bytes) {
    stream_credit out{true, 0, bytes};
    out.elements_ = out.most_;
    return out;
  }

  /// The state of the stream.
  struct progress {
    uint64_t handed_out = 0; ///< elements
    uint64_t received = 0;   ///< elements
    uint64_t held = 0;       ///< the bytes that are not handed out
    uint64_t taken = 0;      ///< total bytes of the blocks that the trainer has used up
    bool waiting = false;    ///< the trainer waits for elements of any stream
    bool ended = false;      ///< the task sends nothing more
  };
  /// True if a grant is to be sent. In all jobs it is sent when half of the window's elements were
  /// handed out since the last grant (with `always`: when any element was). In a shared job, where
  /// waiting trainers are dealt rows first, it is also sent when half of the bytes are free,
  /// when the trainer begins to wait, and when the trainer ceases to wait while elements are held.
  /// With one consumer it is also sent when a quarter of the bytes was used up, so that the task
  /// need not stop, and when the stream has ended.
  bool update(const progress& now, bool always = false) {
    // The trainer has taken a whole window and all received elements: it is limited by the window.
    if (now.handed_out == now.received && now.handed_out - grown_at_ >= elements_) {
      elements_ = std::min(elements_ * 2, most_);
      grown_at_ = now.handed_out;
    }
    const bool moved = now.handed_out > told_;
    const bool half = now.handed_out - told_ >= std::max<uint64_t>(elements_ / 2, 1);
    const bool freed =
      shared_ ? now.held <= bytes_ / 2 : now.taken - told_taken_ >= quiet_bytes() || now.ended;
    // When the task sends something it no longer counts this trainer as waiting, so the trainer
    // must be reported as waiting again.
    const bool waits_anew =
      shared_ && now.waiting && (moved || !told_waiting_ || told_received_ != now.received);
    // The task does not recall the only row from a trainer that counts as waiting, so the end of
    // the waiting must be reported.
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
  /// The number of bytes that the trainer may use up before `update` can return true, unless the
  /// stream ends.
  uint64_t quiet_bytes() const noexcept {
    return shared_ || elements_ != unbounded ? 0 : bytes_ / 4;
  }
  window now(uint64_t handed_out) const { return {handed_out + elements_, bytes_}; }
  /// The messages `open` and a first grant have reported this state to the task.
  void reopened(const progress& now) {
    told_ = now.handed_out;
    told_taken_ = now.taken;
    told_received_ = now.received;
    told_waiting_ = said_waiting_ = now.waiting;
  }
  /// Extends a window with room for less than three elements of this size to three of them, but to
  /// no more than `most` bytes.
  void make_room(uint64_t element_bytes, uint64_t most) {
    bytes_ = std::max(bytes_, std::min(3 * element_bytes, most));
  }
  /// A message has reported to the task that the trainer waits, or that it does not wait.
  void said(bool waiting) { said_waiting_ = waiting; }
  /// The task sent or recalled something, and no longer counts this trainer as waiting. If the
  /// trainer still waits, the next `update` returns true, even if no count has changed.
  void task_forgot() { told_waiting_ = false; }
  /// Sets this stream's part of the bounds that it shares with other streams. Elements that were
  /// granted before may still arrive. True if the window has grown, so that a grant should be sent.
  bool bound(uint64_t most_elements, uint64_t most_bytes) {
    const auto elements = elements_, bytes = bytes_;
    // A window at its limit does not grow by itself, so it takes the new limit at once.
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
  uint64_t told_ = 0; ///< elements handed out, as last reported
  uint64_t told_taken_ = 0;
  uint64_t told_received_ = 0;
  /// The trainer was reported as waiting, and the task still counts it so.
  bool told_waiting_ = false;
  /// The last report of whether the trainer waits; the task may have sent something since.
  bool said_waiting_ = false;
  uint64_t grown_at_ = 0; ///< the number of elements handed out when the window last grew
};

} // namespace headrace::detail
