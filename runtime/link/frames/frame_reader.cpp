#include "headrace/runtime/link/frames/frame_reader.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace headrace::detail {

namespace {

constexpr size_t staging_size = size_t{64} << 10;
// Parts up to this size go through the staging buffer, because a system call for such a part costs
// as much as a copy.
constexpr size_t direct_limit = size_t{16} << 10;
// In messages up to this size all parts share one buffer.
constexpr size_t shared_limit = size_t{16} << 10;
// A part of up to `trusted_part` bytes is allocated at once, if at most `trusted_sum` bytes of
// memory are then allocated for bytes that have not arrived. Other parts are allocated as their
// bytes arrive.
constexpr uint64_t trusted_part = max_frame_payload;
constexpr uint64_t trusted_sum = 4 * max_frame_payload;
constexpr size_t first_growth = size_t{4} << 20;
constexpr size_t first_growth_untrusted = size_t{64} << 10;
constexpr size_t max_partial = 1024;
// In memory a segment takes five times as many bytes (for its size and its buffer) as in the frame
// that announces it. So all incomplete messages together may have at most as many segments as 64
// messages of 4096 segments and a header each; these take 10 MiB.
constexpr size_t max_partial_sizes = size_t{64} * (1 + 4096);

constexpr size_t aligned(size_t n) { return (n + buffer_alignment - 1) & ~(buffer_alignment - 1); }

} // namespace

frame_reader::frame_reader(link_limits limits)
  : limits_(limits),
    staging_(std::make_unique_for_overwrite<std::byte[]>(staging_size)),
    head_size_(staging_size) {
  limits_.header_bytes = std::min(limits_.header_bytes, size_t{UINT32_MAX});
  // The sizes of a frame must fit into the staging buffer.
  limits_.segments =
    std::min<uint32_t>(limits_.segments, (staging_size - sizeof(frame_prefix)) / sizeof(uint64_t));
}

status frame_reader::fail(refusal cause, status_code code, std::string text) {
  cause_ = cause;
  return {code, std::move(text)};
}

status frame_reader::no_memory(uint64_t size) {
  return fail(refusal::oversized, status_code::resource_exhausted,
              "no memory for a message part of " + std::to_string(size) + " bytes");
}

bool frame_reader::mid_message() const noexcept {
  return staged() != 0 || in_body_ || !partial_.empty();
}

// -- buffers for incoming bytes ------------------------------------------------

std::span<const iovec> frame_reader::targets() {
  size_t count = 0;
  size_t want = 0; // the number of bytes to be read into the staging buffer
  bool to_next_frame = true;
  direct_ = 0;
  if (in_body_) {
    // `next` has left the staging buffer empty, and has begun the current part.
    const auto& a = current_;
    auto frame_left = body_left_;
    auto index = a.parts.size();
    auto rest = std::min<uint64_t>(a.current_size() - a.filled, frame_left);
    if (rest > direct_limit) {
      direct_ = std::min<uint64_t>(rest, a.capacity - a.filled);
      targets_[count++] = {a.at + a.filled, direct_};
      to_next_frame = direct_ == rest;
    } else {
      want += rest;
    }
    frame_left -= rest;
    for (++index; to_next_frame && frame_left != 0; ++index) {
      auto part = std::min<uint64_t>(a.sizes[index], frame_left);
      to_next_frame = part <= direct_limit;
      if (to_next_frame) {
        want += part;
        frame_left -= part;
      }
    }
  }
  if (begin_ == end_) {
    begin_ = end_ = 0;
  } else if (staging_size - end_ < staging_size / 2) {
    std::memmove(staging_.get(), staging_.get() + begin_, staged());
    end_ = staged();
    begin_ = 0;
  }
  if (to_next_frame)
    want += head_size_;
  if (want != 0) {
    // While a frame's head (its prefix and sizes) is incomplete, the staged bytes belong to it, and
    // more bytes must arrive.
    if (!in_body_)
      want = want > staged() ? want - staged() : staging_size;
    targets_[count++] = {staging_.get() + end_, std::min(want, staging_size - end_)};
  }
  return {targets_.data(), count};
}

void frame_reader::filled(size_t n) noexcept {
  auto direct = std::min(n, direct_);
  if (direct != 0) {
    current_.filled += direct;
    body_left_ -= direct;
    unearned_ -= direct;
  }
  end_ += n - direct;
  direct_ = 0;
}

// -- parsing -------------------------------------------------------------------

status frame_reader::next(std::optional<link_message>& out) {
  out.reset();
  for (;;) {
    if (in_body_) {
      HEADRACE_TRY(read_body());
      if (body_left_ != 0)
        return {};
      finish_frame(out);
      if (out)
        return {};
    }
    bool more = false;
    HEADRACE_TRY(parse_head(more));
    if (more)
      return {};
  }
}

status frame_reader::parse_head(bool& more) {
  const auto* at = staging_.get() + begin_;
  more = true;
  // Another protocol is detected by its first bytes, even if these are few.
  auto magic = frame_magic;
  if (std::memcmp(at, &magic, std::min(staged(), sizeof(magic))) != 0)
    return fail(refusal::bad_magic, status_code::invalid_argument,
                "the peer does not speak the data link's protocol: it sent "
                  + quoted(at, staged()));
  if (staged() < sizeof(frame_prefix))
    return {};
  auto prefix = load_prefix(at);
  if ((prefix.flags & ~known_flags) != 0 || prefix.reserved != 0)
    return fail(refusal::bad_frame, status_code::invalid_argument, "a frame has unknown flags");
  if (((prefix.flags & flag_hello) != 0) == hello_done_)
    return fail(refusal::bad_frame, status_code::invalid_argument,
                hello_done_ ? "a second hello" : "the first frame is not a hello");
  if ((prefix.flags & flag_ping) != 0) {
    more = false;
    return pass_ping(prefix);
  }
  if (prefix.payload_bytes > max_frame_payload)
    return fail(refusal::oversized, status_code::resource_exhausted,
                "a frame announces " + std::to_string(prefix.payload_bytes)
                  + " bytes of payload; at most " + std::to_string(max_frame_payload)
                  + " are allowed");
  if ((prefix.flags & flag_continuation) != 0) {
    HEADRACE_TRY(continue_message(prefix));
    begin_ += sizeof(frame_prefix);
  } else {
    if (prefix.segments > limits_.segments)
      return fail(refusal::oversized, status_code::resource_exhausted,
                  "a message announces " + std::to_string(prefix.segments) + " segments; at most "
                    + std::to_string(limits_.segments) + " are allowed");
    auto head = sizeof(frame_prefix) + sizeof(uint64_t) * prefix.segments;
    if (staged() < head)
      return {};
    HEADRACE_TRY(begin_message(prefix));
    begin_ += head;
  }
  more = false;
  in_body_ = true;
  current_.left -= prefix.payload_bytes;
  body_left_ = prefix.header_bytes + prefix.payload_bytes;
  // The next frame is probably similar to this one. A small frame is read together with the
  // following ones; of a large frame only the head is read into the staging buffer, and the payload
  // directly into its buffers.
  head_size_ = staging_size;
  if (prefix.payload_bytes > direct_limit)
    head_size_ = std::min<size_t>(sizeof(frame_prefix) + sizeof(uint64_t) * prefix.segments
                                    + prefix.header_bytes,
                                  staging_size);
  return {};
}

// Leaves `head_size_` unchanged, because the frames before and after a ping are probably similar.
status frame_reader::pass_ping(const frame_prefix& prefix) {
  if (prefix.flags != flag_ping || prefix.channel != 0 || prefix.segments != 0
      || prefix.header_bytes != 0 || prefix.payload_bytes != 0)
    return fail(refusal::bad_frame, status_code::invalid_argument, "a ping that carries something");
  begin_ += sizeof(frame_prefix);
  return {};
}

status frame_reader::begin_message(const frame_prefix& prefix) {
  auto hello = (prefix.flags & flag_hello) != 0;
  const auto header_limit = std::min<uint64_t>(
    {hello ? max_hello_bytes : limits_.header_bytes, limits_.header_bytes, limits_.message_bytes});
  if (prefix.header_bytes > header_limit)
    return fail(refusal::oversized, status_code::resource_exhausted,
                "a message announces a header of " + std::to_string(prefix.header_bytes)
                  + " bytes; at most " + std::to_string(header_limit) + " are allowed");
  if (prefix.header_bytes % 8 != 0)
    return fail(refusal::bad_frame, status_code::invalid_argument,
                "a header is not of whole words");
  if (hello && (prefix.channel != 0 || prefix.segments != 0))
    return fail(refusal::bad_frame, status_code::invalid_argument,
                "a hello with channel or payload");
  if (partial_.size() >= max_partial)
    return fail(refusal::oversized, status_code::resource_exhausted,
                "more than " + std::to_string(max_partial) + " messages are under way");
  if (partial_sizes_ + prefix.segments > max_partial_sizes)
    return fail(refusal::oversized, status_code::resource_exhausted,
                "the messages under way have more than " + std::to_string(max_partial_sizes)
                  + " segments");
  if (partial_.contains(prefix.channel))
    return fail(refusal::bad_frame, status_code::invalid_argument,
                "a message begins in the middle of another of channel "
                  + std::to_string(prefix.channel));
  current_ = {};
  current_.channel = prefix.channel;
  current_.sizes.reserve(1 + prefix.segments);
  current_.parts.reserve(1 + prefix.segments);
  current_.sizes.push_back(prefix.header_bytes);
  auto sum = uint64_t{prefix.header_bytes};
  auto shared = aligned(prefix.header_bytes);
  const auto* sizes = staging_.get() + begin_ + sizeof(frame_prefix);
  for (uint32_t i = 0; i < prefix.segments; ++i) {
    auto size = load_u64(sizes + sizeof(uint64_t) * i);
    if (size > limits_.message_bytes - sum)
      return fail(refusal::oversized, status_code::resource_exhausted,
                  "a message announces more than " + std::to_string(limits_.message_bytes)
                    + " bytes");
    sum += size;
    shared += aligned(size);
    current_.sizes.push_back(size);
  }
  current_.left = sum - prefix.header_bytes;
  if (prefix.payload_bytes > current_.left || (prefix.payload_bytes == 0 && current_.left != 0))
    return fail(refusal::bad_frame, status_code::invalid_argument,
                "a frame's payload does not fit the segments of its message");
  if (shared != 0 && shared <= shared_limit) {
    mutable_buffer block{shared};
    current_.shared_at = block.data();
    current_.shared = std::move(block).freeze();
  }
  return {};
}

status frame_reader::continue_message(const frame_prefix& prefix) {
  auto found = partial_.find(prefix.channel);
  if (found == partial_.end() || prefix.segments != 0 || prefix.header_bytes != 0
      || prefix.payload_bytes == 0 || prefix.payload_bytes > found->second.left)
    return fail(refusal::bad_frame, status_code::invalid_argument,
                "a frame continues no message of channel " + std::to_string(prefix.channel));
  current_ = std::move(found->second);
  partial_sizes_ -= current_.sizes.size();
  partial_.erase(found);
  return {};
}

status frame_reader::read_body() {
  auto& a = current_;
  while (a.parts.size() < a.sizes.size()) {
    if (a.at == nullptr) {
      // A part is allocated when its first byte is to be read.
      if (body_left_ == 0 && a.current_size() != 0)
        return {};
      HEADRACE_TRY(begin_part());
    }
    while (a.filled != a.current_size()) {
      if (a.filled == a.capacity) {
        if (!a.growing->grow())
          return no_memory(a.current_size());
        unearned_ += a.growing->capacity() - a.capacity;
        a.capacity = a.growing->capacity();
        a.at = a.growing->data();
      }
      auto n = std::min({staged(), a.capacity - a.filled, static_cast<size_t>(body_left_)});
      if (n == 0)
        return {};
      std::memcpy(a.at + a.filled, staging_.get() + begin_, n);
      begin_ += n;
      a.filled += n;
      body_left_ -= n;
      unearned_ -= n;
    }
    finish_part();
  }
  return {};
}

status frame_reader::begin_part() {
  auto& a = current_;
  auto size = a.current_size();
  a.filled = 0;
  try {
    if (size == 0) {
      a.at = staging_.get(); // the part is complete at once
    } else if (a.shared_at != nullptr) {
      a.at = a.shared_at;
      a.capacity = size;
    } else if (size <= trusted_part && unearned_ + size <= trusted_sum) {
      a.fixed = mutable_buffer{size};
      a.at = a.fixed.data();
      a.capacity = size;
    } else {
      a.growing.emplace(size, unearned_ + first_growth <= trusted_sum ? first_growth
                                                                      : first_growth_untrusted);
      if (!a.growing->grow())
        return no_memory(size);
      a.at = a.growing->data();
      a.capacity = a.growing->capacity();
    }
  } catch (const std::bad_alloc&) {
    return no_memory(size);
  }
  unearned_ += size == 0 ? 0 : a.capacity;
  return {};
}

void frame_reader::finish_part() {
  auto& a = current_;
  auto size = a.current_size();
  if (size == 0) {
    a.parts.emplace_back();
  } else if (a.shared_at != nullptr) {
    a.parts.emplace_back(a.shared.owner(), a.shared_at, size);
    a.shared_at += aligned(size);
  } else if (a.growing) {
    a.parts.push_back(std::move(*a.growing).freeze());
    a.growing.reset();
  } else {
    a.parts.push_back(std::move(a.fixed).freeze());
  }
  a.at = nullptr;
}

void frame_reader::finish_frame(std::optional<link_message>& out) {
  auto& a = current_;
  in_body_ = false;
  if (a.parts.size() == a.sizes.size()) {
    hello_done_ = true;
    auto& message = out.emplace();
    message.channel = a.channel;
    message.header = std::move(a.parts.front());
    message.payload.assign(std::make_move_iterator(a.parts.begin() + 1),
                           std::make_move_iterator(a.parts.end()));
  } else {
    auto channel = a.channel;
    partial_sizes_ += a.sizes.size();
    partial_.insert_or_assign(channel, std::move(a));
  }
  current_ = {};
}

} // namespace headrace::detail
