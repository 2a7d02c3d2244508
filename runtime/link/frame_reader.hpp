#pragma once

#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/link/frame.hpp"
#include "headrace/runtime/link/growing_buffer.hpp"
#include "headrace/runtime/link/link_refusal.hpp"

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <sys/uio.h>
#include <unordered_map>
#include <vector>

namespace headrace {

/// Turns the bytes of a peer into messages. Says where the next bytes are to be put: large segments
/// are read straight into their buffers, small parts through a small buffer. Trusts nothing: what a
/// peer announces is checked against the limits, and memory is taken as bytes arrive. Pure: knows
/// no socket. Not thread-safe.
class frame_reader {
public:
  explicit frame_reader(link_limits limits);

  /// Where the next bytes go, one range after the other; never empty. Valid until `filled`.
  std::span<const iovec> targets();
  /// The peer sent `n` more bytes, which are where `targets` said. Call `next` until it gives
  /// nothing.
  void filled(size_t n) noexcept;
  /// The next whole message, if there is one; pings are none. The first is the peer's hello. After
  /// an error the
  /// connection is of no more use; `cause` says what kind it is.
  status next(std::optional<link_message>& out);
  refusal cause() const noexcept { return cause_; }
  /// Whether the bytes so far end in the middle of a frame or of a message.
  bool mid_message() const noexcept;

private:
  // A message under way.
  struct assembly {
    uint32_t channel = 0;
    std::vector<uint64_t> sizes; // of the header and the segments
    std::vector<buffer> parts;   // those that are whole
    uint64_t left = 0;           // payload bytes that are missing
    // The part that is being filled:
    std::byte* at = nullptr; // null: not begun
    size_t filled = 0;
    size_t capacity = 0;
    mutable_buffer fixed;
    std::optional<growing_buffer> growing;
    // Small messages have one buffer for everything.
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
  uint64_t body_left_ = 0; // bytes of this frame's header and payload that are missing
  size_t head_size_;       // guess of the size of the next frame's prefix, sizes and header
  assembly current_;
  std::unordered_map<uint32_t, assembly> partial_;
  size_t partial_sizes_ = 0; // of all in partial_ together
  uint64_t unearned_ = 0;    // bytes of memory taken for what has not arrived

  std::array<iovec, 2> targets_;
  size_t direct_ = 0; // bytes of targets_ that go into the current part
};

} // namespace headrace
