#pragma once

#include "headrace/runtime/link/frames/frame.hpp"

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <sys/uio.h>
#include <utility>
#include <vector>

namespace headrace::detail {

/// Turns messages into batches of bytes to write. Channels with messages send their frames in turn;
/// small parts are gathered into one piece, large ones are not copied. Pure: it has no socket. Not
/// thread-safe.
class frame_writer {
public:
  /// Queues a message after the queued messages of its channel.
  void push(link_message message);
  /// Queues the hello of this node, which does not count as a message. @pre nothing was pushed
  /// before
  void push_hello(buffer header);

  /// Queues a ping, which does not count as a message. @pre idle()
  void push_ping();

  /// The next pieces to write; empty if there are none. Until all of them were `written`, further
  /// calls return the rest of them.
  std::span<const iovec> batch();
  /// To be called when the kernel has taken `n` bytes of the batch. Returns 0 until the whole batch
  /// is written, and then the number of header and payload bytes of messages in the batch.
  size_t written(size_t n);
  /// The number of messages that were sent completely since the last call.
  size_t take_finished() noexcept { return std::exchange(finished_, 0); }
  bool idle() const noexcept { return at_ == pieces_.size() && ready_.empty(); }

private:
  struct pending {
    link_message message;
    uint32_t flags = 0;
    bool begun = false;
    size_t segment = 0; // the segment of the next byte to send
    size_t offset = 0;  // the offset of the next byte in its segment
    uint64_t left = 0;  // the number of payload bytes that are not sent
  };

  void fill();
  /// Adds one frame. True if the message is finished.
  bool add_frame(pending& x);
  void add_copy(const void* data, size_t size);
  void add_buffer(const buffer& from, size_t offset, size_t size);
  std::byte* room(size_t size);

  std::map<uint32_t, std::deque<pending>> channels_;
  std::deque<uint32_t> ready_; // channels with something to send, in the order of their turns

  std::vector<iovec> pieces_;
  size_t at_ = 0; // the first piece that is not completely written
  size_t batch_bytes_ = 0;
  size_t message_bytes_ = 0;
  size_t batch_messages_ = 0;
  size_t finished_ = 0;
  std::vector<link_message> done_; // keeps the buffers alive to which the pieces point

  struct block {
    std::unique_ptr<std::byte[]> data;
    size_t size;
  };
  std::vector<block> arena_;
  size_t arena_block_ = 0;
  size_t arena_used_ = 0;
};

} // namespace headrace::detail
