#pragma once

#include "headrace/runtime/base/buffer.hpp"
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
};

/// As the header of a hello frame.
buffer encode(const link_hello& x);
/// Checks the bytes of a peer.
result<link_hello> decode_hello(const buffer& header);
/// Ok if a peer of that version can be talked to; else an error that names both versions.
status check_version(const link_hello& peer);

} // namespace headrace
