#pragma once

#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/link/frames/frame.hpp"

#include <cstdint>
#include <string>

namespace headrace::detail {

/// The first message of each end of a link (see schemas/link.capnp).
struct link_hello {
  uint16_t protocol_major = link_protocol_major;
  uint16_t protocol_minor = link_protocol_minor;
  uint64_t node_id = 0;
  std::string boot_id;
  std::string role;
  /// While the link is open the sender sends something at least this often, if the receiver accepts
  /// pings. Zero: no interval is promised.
  duration ping_every = duration::zero();

  /// True if the sender accepts ping frames; otherwise it would close the link when it receives
  /// one.
  bool knows_pings() const noexcept { return protocol_minor >= first_minor_with_pings; }
};

/// Encodes the header of a hello frame.
buffer encode(const link_hello& x);
/// Decodes and checks the header of a peer's hello frame.
result<link_hello> decode_hello(const buffer& header);
/// Ok if the peer's version is compatible; else an error that names both versions.
status check_version(const link_hello& peer);

} // namespace headrace::detail
