#pragma once

#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/link/frames/frame.hpp"
#include "headrace/runtime/link/frames/growing_buffer.hpp"
#include "headrace/runtime/link/link_refusal.hpp"

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <sys/uio.h>
#include <unordered_map>
#include <vector>

namespace headrace::detail {

/// Turns the bytes of a peer into messages. It decides where the next bytes are put: large segments
/// are read directly into their buffers, small parts through a small buffer. It does not trust the
/// peer: announced sizes are checked against the limits, and the memory that is allocated before
/// its bytes arrive is bounded. Pure: it has no socket. Not thread-safe.
class frame_reader {
public:
  explicit frame_reader(link_limits limits);

  /// The memory for the next bytes, one range after the other; never empty. Valid until `filled`.
  std::span<const iovec> targets();
  /// To be called when `n` more bytes of the peer were put into `targets`. `next` must then be
  /// called until it returns no message.
  void filled(size_t n) noexcept;
  /// Returns the next complete message, if there is one; pings are not returned. The first message
  /// is the peer's hello. After an error the connection is unusable; `cause` has the kind of error.
  status next(std::optional<link_message>& out);
  refusal cause() const noexcept { return cause_; }
  /// True if the bytes so far end in the middle of a frame or of a message.
  bool mid_message() const noexcept;

private:
  // A message of which some bytes have arrived.
  struct assembly {
    uint32_t channel = 0;
    std::vector<uint64_t> sizes; // of the header and the segments
    std::vector<buffer> parts;   // the complete parts
    uint64_t left = 0;           // the number of missing payload bytes
    // The part that is being filled:
    std::byte* at = nullptr; // null: not begun
    size_t filled = 0;
    size_t capacity = 0;
    mutable_buffer fixed;
    std::optional<growing_buffer> growing;
    // The common buffer of the parts of a small message.
    buffer shared;
    std::byte* shared_at = nullptr;

    size_t current_size() const noexcept { return sizes[parts.size()]; }
  };

  status fail(refusal cause, status_code code, std::string text);
  status no_memory(uint64_t size);
  status parse_head(bool& more);
  status pass_ping(const frame_prefix& prefix);
  status begin_message(const frame_prefix& prefix);
  status continue_message(const frame_prefix& prefix);
  status read_body();
  status begin_part();
  void finish_part();
  void finish_frame(std::optional<link_message>& out);
  size_t staged() const noexcept { return end_ - begin_; }

  link_limits limits_;
  refusal cause_ = refusal::bad_frame;
  bool hello_done_ = false;

  std::unique_ptr<std::byte[]> staging_;
  size_t begin_ = 0;
  size_t end_ = 0;

  bool in_body_ = false;
  uint64_t body_left_ = 0; // the missing bytes of this frame's header and payload
  // The number of bytes to read when the next frame begins, which is expected to be like the last:
  // after a large frame, the size of its prefix, sizes and header; otherwise that of the buffer.
  size_t head_size_;
  assembly current_;
  std::unordered_map<uint32_t, assembly> partial_;
  size_t partial_sizes_ = 0; // the number of `sizes` of all messages in partial_
  // The number of bytes that were allocated for bytes that have not arrived.
  uint64_t unearned_ = 0;

  std::array<iovec, 2> targets_;
  size_t direct_ = 0; // the number of bytes of targets_ that belong to the current part
};

} // namespace headrace::detail
