#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace {

/// Why a connection was turned away or cut off by us.
enum class refusal : uint8_t {
  bad_magic,   ///< not our protocol
  bad_version, ///< our protocol in another major version
  bad_frame,   ///< our protocol, but a frame or hello that contradicts itself
  oversized,   ///< announced more than the limits allow, or than there is memory for
  truncated,   ///< ended in the middle of a hello or of a message
  silent,      ///< did not finish the handshake in time
  tls,         ///< no TLS, or no certificate that we trust
  crowded,     ///< had not finished the handshake when too many others came
};
inline constexpr size_t refusals = 8;

/// What a link service has seen.
struct link_counters {
  uint64_t accepted = 0;  ///< incoming connections that passed the handshake
  uint64_t connected = 0; ///< outgoing ones that did
  uint64_t bad_magic = 0;
  uint64_t bad_version = 0;
  uint64_t bad_frame = 0;
  uint64_t oversized = 0;
  uint64_t truncated = 0;
  uint64_t silent = 0;
  uint64_t tls = 0;
  uint64_t crowded = 0;
  uint64_t messages_in = 0;
  uint64_t messages_out = 0;
  uint64_t bytes_in = 0;  ///< payload and header bytes of whole messages
  uint64_t bytes_out = 0; ///< the same, handed to the kernel
};

} // namespace headrace
