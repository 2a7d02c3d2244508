#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headrace {

/// Why this node refused or closed a connection.
enum class refusal : uint8_t {
  bad_magic,   ///< not our protocol
  bad_version, ///< our protocol in another major version
  bad_frame,   ///< our protocol, but a frame or hello that contradicts itself
  oversized,   ///< exceeded the limits, or the available memory
  truncated,   ///< ended in the middle of a hello or of a message
  silent,      ///< did not finish the handshake in time
  tls,         ///< no TLS, or no certificate that we trust
  crowded,     ///< had not finished the handshake when too many others came
};
inline constexpr size_t refusals = 8;

constexpr std::string_view to_string(refusal x) noexcept {
  constexpr std::array<std::string_view, refusals> names{
    "bad_magic", "bad_version", "bad_frame", "oversized", "truncated", "silent", "tls", "crowded"};
  return names[static_cast<size_t>(x)];
}

} // namespace headrace
