#pragma once

#include "headrace/runtime/link/frame.hpp"

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <sys/uio.h>
#include <utility>
#include <vector>

namespace headrace {

/// Turns messages into batches of bytes to write. Channels with messages take turns with their
/// frames; small parts are gathered into one piece, large ones are not copied. Pure: it has no
/// socket. Not thread-safe.
class frame_writer {
public:
  /// Queues a message behind those of its channel.
  void push(link_message message);
  /// Queues our hello, which is not counted. @pre nothing was pushed before
  void push_hello(buffer header);

  /// Queues a ping, which is not counted. @pre idle()
  void push_ping();

  /// The next pieces to write; empty if there are none. Unchanged until all of them were `written`.
  std::span<const iovec> batch();
  /// The kernel has taken `n` bytes of the batch. Returns how many bytes of messages are finished,
  /// counted when their batch is.
  size_t written(size_t n);
  /// The number of messages that were sent completely since the last call.
  size_t take_finished() noexcept { return std::exchange(finished_, 0); }
  bool idle() const noexcept { return at_ == pieces_.size() && ready_.empty(); }

private:
  struct pending {
    link_message message;
    uint32_t flags = 0;
    bool begun = false;
    size_t segment = 0; // the next byte to send is in this segment
    size_t offset = 0;  // and here in it
    uint64_t left = 0;  // payload bytes still to send
  };

  void fill();
  /// Adds one frame. True if the message is finished.
  bool add_frame(pending& x);
  void add_copy(const void* data, size_t size);
  void add_buffer(const buffer& from, size_t offset, size_t size);
  std::byte* room(size_t size);

  std::map<uint32_t, std::deque<pending>> channels_;
  std::deque<uint32_t> ready_; // channels with something to send, in turn

  std::vector<iovec> pieces_;
  size_t at_ = 0; // the first piece that is not completely written
  size_t batch_bytes_ = 0;
  size_t message_bytes_ = 0;
  size_t batch_messages_ = 0;
  size_t finished_ = 0;
  std::vector<link_message> done_; // keeps the buffers alive into which the pieces point

  struct block {
    std::unique_ptr<std::byte[]> data;
    size_t size;
  };
  std::vector<block> arena_;
  size_t arena_block_ = 0;
  size_t arena_used_ = 0;
};

} // namespace headrace
