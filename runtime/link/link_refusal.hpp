#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headrace::detail {

/// The reason why this node refused or closed a connection.
enum class refusal : uint8_t {
  bad_magic,   ///< the peer uses another protocol
  bad_version, ///< the peer uses another major version of the protocol
  bad_frame,   ///< a frame or hello is not valid
  oversized,   ///< a message exceeded the limits, or the available memory
  truncated,   ///< the connection ended before the end of the hello, or in a message
  silent,      ///< the peer did not finish the handshake in time
  tls,         ///< the TLS handshake failed, e.g. the peer has no trusted certificate
  /// Too many connections had not finished the handshake. This one was the oldest of them.
  crowded,
};
inline constexpr size_t refusals = 8;

constexpr std::string_view to_string(refusal x) noexcept {
  constexpr std::array<std::string_view, refusals> names{
    "bad_magic", "bad_version", "bad_frame", "oversized", "truncated", "silent", "tls", "crowded"};
  return names[static_cast<size_t>(x)];
}

} // namespace headrace::detail
