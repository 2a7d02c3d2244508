#pragma once

#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/link/frame.hpp"

#include <cstdint>
#include <string>

namespace headrace {

/// What the ends of a link tell each other first (see schemas/link.capnp).
struct link_hello {
  uint16_t protocol_major = link_protocol_major;
  uint16_t protocol_minor = link_protocol_minor;
  uint64_t node_id = 0;
  std::string boot_id;
  std::string role;
  /// The sender puts something on the wire at least this often while the link is open, if the
  /// receiver knows pings. Zero: it promises nothing.
  duration ping_every = duration::zero();

  /// Whether the sender takes ping frames; it would refuse the link for one otherwise.
  bool knows_pings() const noexcept { return protocol_minor >= first_minor_with_pings; }
};

/// As the header of a hello frame.
buffer encode(const link_hello& x);
/// Checks the bytes of a peer.
result<link_hello> decode_hello(const buffer& header);
/// Ok if a peer of that version can be talked to; else an error that names both versions.
status check_version(const link_hello& peer);

} // namespace headrace
