#pragma once

#include "headrace/runtime/base/status.hpp"

#include <memory>
#include <span>
#include <sys/uio.h>

namespace headrace::detail {

/// The outcome of an attempt to move bytes without blocking.
enum class wire_state : uint8_t {
  moved,      ///< some bytes were moved
  want_read,  ///< call again when the socket has bytes to read
  want_write, ///< call again when the socket has room for bytes
  ended,      ///< the peer closed the connection
  failed,     ///< see `why`
};

struct wire_result {
  wire_state state = wire_state::moved;
  size_t bytes = 0;
  status why = {};
  /// With `moved`: probably there is nothing left to read, or no room to write.
  bool drained = false;
};

/// Moves bytes to and from a connected, non-blocking socket, plain or with TLS. Does not own the
/// socket.
class wire {
public:
  virtual ~wire() = default;
  /// Continues the handshake of TLS, if there is one; `moved` when it is complete.
  virtual wire_result handshake() = 0;
  virtual wire_result read(std::span<const iovec> into) = 0;
  virtual wire_result write(std::span<const iovec> from) = 0;
};

std::unique_ptr<wire> make_plain_wire(int socket);

} // namespace headrace::detail
