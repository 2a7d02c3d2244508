#pragma once

#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/base/status.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headrace {

/// What goes from one node to another of the same process as it lies in memory. Immutable: both
/// share it.
class local_content {
public:
  local_content() = default;
  local_content(const local_content&) = delete;
  local_content& operator=(const local_content&) = delete;
  virtual ~local_content() = default;
  /// That it keeps in memory, about.
  virtual size_t byte_size() const noexcept = 0;
};

/// What travels over a link: a small header that says what it is, and bytes that nobody copies.
struct link_message {
  /// Messages of one channel arrive in the order they were sent; those of different channels may
  /// overtake each other, so that a large one of one stream does not hold back the others.
  uint32_t channel = 0;
  /// Cap'n Proto words (a multiple of 8 bytes); the link does not look inside. A received one is
  /// aligned to `buffer_alignment`.
  buffer header;
  /// Sent straight from these buffers, which stay alive until the kernel has taken them. Each is
  /// received into a buffer of its own, aligned to `buffer_alignment`.
  std::vector<buffer> payload;
  /// In place of both, on a link that is `in_process`.
  std::shared_ptr<const local_content> content = {};

  /// Bytes of header and payload together, or of the content.
  size_t byte_size() const noexcept;
};

/// What a link accepts from its peer. A message beyond it closes the link; `send` refuses it too.
struct link_limits {
  size_t header_bytes = size_t{4} << 20;
  uint32_t segments = 4096;
  uint64_t message_bytes = uint64_t{1} << 40; ///< header and payload together

  /// Invalid argument, naming the limit and what is beyond it, for a message that no link with
  /// these limits carries.
  status check(const link_message& message) const;
};

/// Who hears what a link has to tell. All are called on the link's I/O thread, one after the other,
/// and must not block; they may call any member of the link.
struct link_handlers {
  std::function<void(link_message)> on_message;
  /// The link is over, and why; called exactly once, after the last message.
  std::function<void(const status&)> on_closed;
  /// What `send` could not pass on at once is passed on: `queued_bytes()` is back to zero, or was.
  std::function<void()> on_drained;
};

/// One ordered, reliable, two-way connection to another node. An open link stays open, whether or
/// not somebody holds a pointer to it, until one side closes it, the connection breaks, its peer
/// falls silent or its service ends. All members are thread-safe.
class link {
public:
  link() = default;
  link(const link&) = delete;
  link& operator=(const link&) = delete;
  virtual ~link() = default;

  /// Both ends are in this process: a message may be a `content`, which no other link sends.
  virtual bool in_process() const noexcept { return false; }
  /// Queues a message; never waits for the peer. If nothing is queued before it, the calling thread
  /// may itself copy up to about 1 MiB to the kernel. False if the link is closed or the message is
  /// beyond the limits (then nothing was sent and the link stays as it was).
  virtual bool send(link_message message) = 0;
  virtual const link_limits& limits() const noexcept = 0;
  /// Bytes handed to `send` and not yet with the kernel (for a local link: not yet with the peer's
  /// handler).
  virtual size_t queued_bytes() const = 0;
  /// Ends the link without waiting for what is queued. Our `on_closed` is called with `why`, the
  /// peer's with an error of its own. Closing again does nothing. @pre `!why.ok()`
  virtual void close(status why) = 0;
  /// Begins to receive: nothing is read before the first call, so nothing is lost until then. If
  /// the link is closed already, `on_closed` is called soon. May be called again to replace them.
  virtual void set_handlers(link_handlers handlers) = 0;

  /// `host:port` of the other end, or a name for it; for messages to people.
  virtual const std::string& peer_address() const = 0;
  /// The node id that the peer gave in its hello.
  virtual uint64_t peer_node() const = 0;
  /// The boot id of the peer's host: equal to ours means the same host.
  virtual const std::string& peer_boot_id() const = 0;
  /// The role the peer gave in its hello, e.g. `worker`.
  virtual const std::string& peer_role() const = 0;
};

} // namespace headrace
