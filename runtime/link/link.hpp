#pragma once

#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/base/status.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headrace::detail {

/// An object in memory that is sent between two nodes of one process. It is immutable, because both
/// nodes share it.
class local_content {
public:
  local_content() = default;
  local_content(const local_content&) = delete;
  local_content& operator=(const local_content&) = delete;
  virtual ~local_content() = default;
  /// The approximate number of bytes that this object occupies in memory.
  virtual size_t byte_size() const noexcept = 0;
};

/// A message on a link: a small header, and bytes that are not copied.
struct link_message {
  /// Messages of one channel arrive in the order in which they were sent; those of different
  /// channels may overtake each other, so that a large message of one stream does not delay the
  /// others.
  uint32_t channel = 0;
  /// Cap'n Proto words (a multiple of 8 bytes), which the link does not interpret. In a received
  /// message it is aligned to `buffer_alignment`.
  buffer header;
  /// The bytes are sent from these buffers, which stay alive until the kernel has taken the bytes.
  /// Each received segment is aligned to `buffer_alignment`; those of a small message share memory.
  std::vector<buffer> payload;
  /// If set, the message has no header and no payload, and the link must be `in_process`.
  std::shared_ptr<const local_content> content = {};

  /// The bytes of header and payload together, or of the content.
  size_t byte_size() const noexcept;
};

/// The limits for messages. `send` refuses a larger message, and a larger message from the peer
/// closes the link.
struct link_limits {
  size_t header_bytes = size_t{4} << 20;
  uint32_t segments = 4096;
  uint64_t message_bytes = uint64_t{1} << 40; ///< header and payload together

  /// Returns `invalid_argument` if the message exceeds a limit (the text contains the limit and the
  /// size), or if the size of its header is not a multiple of 8 bytes. Otherwise returns ok.
  status check(const link_message& message) const;
};

/// Callbacks of a link. They are called on the link's I/O thread, one after the other, and must not
/// block; they may call any member of the link.
struct link_handlers {
  std::function<void(link_message)> on_message;
  /// The link is closed, for the given reason. Called exactly once, after the last message.
  std::function<void(const status&)> on_closed;
  /// The messages that `send` had queued were written: `queued_bytes()` is zero, or was zero until
  /// further messages were queued.
  std::function<void()> on_drained;
};

/// One ordered, reliable, two-way connection to another node. A link stays open, even without a
/// pointer to it, until one side closes it, the connection breaks, its peer is silent for too long,
/// or its service ends. All members are thread-safe.
class link {
public:
  link() = default;
  link(const link&) = delete;
  link& operator=(const link&) = delete;
  virtual ~link() = default;

  /// True if both ends are in this process: a message may then have a `content`.
  virtual bool in_process() const noexcept { return false; }
  /// Queues a message; never waits for the peer. If nothing is queued before it, the calling thread
  /// may itself copy up to about 1 MiB to the kernel. False if the link is closed, the message does
  /// not pass `limits().check`, or it has a `content` and the link is not `in_process`; then
  /// nothing was sent and the link is unchanged.
  virtual bool send(link_message message) = 0;
  virtual const link_limits& limits() const noexcept = 0;
  /// The bytes that were passed to `send` and not yet to the kernel (for a local link: not yet to
  /// the peer's handler).
  virtual size_t queued_bytes() const = 0;
  /// Closes the link without waiting for queued messages. This end's `on_closed` is called with
  /// `why`, and the peer's `on_closed` with another error. A second call does nothing. @pre
  /// `!why.ok()`
  virtual void close(status why) = 0;
  /// Begins to receive. Nothing is read before the first call, so no message is lost until then. If
  /// the link is closed already, `on_closed` is called soon. A further call replaces the handlers.
  virtual void set_handlers(link_handlers handlers) = 0;

  /// The `host:port` of the other end, or a name for it; for messages to users.
  virtual const std::string& peer_address() const = 0;
  /// The node id in the peer's hello.
  virtual uint64_t peer_node() const = 0;
  /// The boot id of the peer's host. It equals that of this process if and only if both are on the
  /// same host.
  virtual const std::string& peer_boot_id() const = 0;
  /// The role in the peer's hello, e.g. `worker`; empty on a link that is `in_process`.
  virtual const std::string& peer_role() const = 0;
};

} // namespace headrace::detail
