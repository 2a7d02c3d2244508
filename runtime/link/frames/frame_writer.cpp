#include "headrace/runtime/link/frames/frame_writer.hpp"

#include <algorithm>

namespace headrace::detail {

namespace {

// Parts up to this size are copied into one buffer, because a separate entry of `writev` (or a
// separate TLS record) for each part would cost more.
constexpr size_t copy_limit = 1024;
// The size at which a batch ends: large enough to fill a part of the socket's buffer, and small
// enough that a batch keeps few messages in memory.
constexpr size_t batch_target = size_t{1} << 20;
constexpr size_t piece_limit = 256;
constexpr size_t arena_block_size = size_t{64} << 10;

} // namespace

void frame_writer::push(link_message message) {
  auto& queue = channels_[message.channel];
  if (queue.empty())
    ready_.push_back(message.channel);
  uint64_t left = 0;
  for (const auto& x : message.payload) left += x.size();
  queue.push_back({.message = std::move(message), .left = left});
}

void frame_writer::push_hello(buffer header) {
  push({.channel = 0, .header = std::move(header), .payload = {}});
  channels_[0].back().flags = flag_hello;
}

void frame_writer::push_ping() {
  push({.channel = 0, .header = {}, .payload = {}});
  channels_[0].back().flags = flag_ping;
}

std::span<const iovec> frame_writer::batch() {
  if (at_ == pieces_.size())
    fill();
  return std::span{pieces_}.subspan(at_);
}

size_t frame_writer::written(size_t n) {
  while (n != 0) {
    auto& x = pieces_[at_];
    if (n < x.iov_len) {
      x.iov_base = static_cast<std::byte*>(x.iov_base) + n;
      x.iov_len -= n;
      return 0;
    }
    n -= x.iov_len;
    ++at_;
  }
  if (at_ != pieces_.size())
    return 0;
  finished_ += std::exchange(batch_messages_, 0);
  done_.clear();
  return std::exchange(message_bytes_, 0);
}

void frame_writer::fill() {
  pieces_.clear();
  at_ = batch_bytes_ = arena_block_ = arena_used_ = 0;
  while (!ready_.empty() && batch_bytes_ < batch_target && pieces_.size() < piece_limit) {
    auto channel = ready_.front();
    ready_.pop_front();
    auto found = channels_.find(channel);
    auto& queue = found->second;
    if (add_frame(queue.front())) {
      done_.push_back(std::move(queue.front().message));
      batch_messages_ += (queue.front().flags & (flag_hello | flag_ping)) == 0 ? 1 : 0;
      queue.pop_front();
    }
    if (queue.empty())
      channels_.erase(found);
    else
      ready_.push_back(channel);
  }
}

bool frame_writer::add_frame(pending& x) {
  const auto& m = x.message;
  auto take = std::min<uint64_t>(x.left, frame_cut);
  frame_prefix prefix{
    .magic = frame_magic, .flags = x.flags, .channel = m.channel, .payload_bytes = take};
  if (!x.begun) {
    prefix.segments = static_cast<uint32_t>(m.payload.size());
    prefix.header_bytes = static_cast<uint32_t>(m.header.size());
  } else {
    prefix.flags |= flag_continuation;
  }
  std::byte bytes[sizeof(prefix)];
  store(prefix, bytes);
  add_copy(bytes, sizeof(bytes));
  if (!x.begun) {
    for (const auto& segment : m.payload) {
      store_u64(segment.size(), bytes);
      add_copy(bytes, sizeof(uint64_t));
    }
    add_buffer(m.header, 0, m.header.size());
    // A hello is not counted as a message.
    if ((x.flags & flag_hello) == 0)
      message_bytes_ += m.header.size();
    x.begun = true;
  }
  message_bytes_ += take;
  x.left -= take;
  while (take != 0) {
    const auto& segment = m.payload[x.segment];
    auto n = std::min<uint64_t>(take, segment.size() - x.offset);
    add_buffer(segment, x.offset, n);
    take -= n;
    x.offset += n;
    if (x.offset == segment.size()) {
      ++x.segment;
      x.offset = 0;
    }
  }
  return x.left == 0;
}

std::byte* frame_writer::room(size_t size) {
  while (arena_block_ < arena_.size() && arena_[arena_block_].size - arena_used_ < size) {
    ++arena_block_;
    arena_used_ = 0;
  }
  if (arena_block_ == arena_.size()) {
    arena_.push_back(
      {std::make_unique_for_overwrite<std::byte[]>(arena_block_size), arena_block_size});
    arena_used_ = 0;
  }
  auto* at = arena_[arena_block_].data.get() + arena_used_;
  arena_used_ += size;
  return at;
}

void frame_writer::add_copy(const void* data, size_t size) {
  auto* at = room(size);
  std::memcpy(at, data, size);
  batch_bytes_ += size;
  if (!pieces_.empty()) {
    auto& last = pieces_.back();
    if (static_cast<std::byte*>(last.iov_base) + last.iov_len == at) {
      last.iov_len += size;
      return;
    }
  }
  pieces_.push_back({at, size});
}

void frame_writer::add_buffer(const buffer& from, size_t offset, size_t size) {
  if (size == 0)
    return;
  if (size <= copy_limit)
    return add_copy(from.data() + offset, size);
  batch_bytes_ += size;
  pieces_.push_back({const_cast<std::byte*>(from.data() + offset), size});
}

} // namespace headrace::detail
