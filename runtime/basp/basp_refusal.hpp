#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headrace {

/// Why this node closed a connection of the actor port.
enum class basp_refusal : uint8_t {
  malformed,   ///< not a frame of the protocol, or one that contradicts itself
  oversized,   ///< announced a larger payload than we ever send
  out_of_turn, ///< a handshake at the wrong time, or another frame where there must be one
  foreign,     ///< well formed, but not a frame that headrace sends
  impostor,    ///< sent in the name of another node, or for another one
  /// Had not sent its handshake when too many others came, or too many descriptors are in use.
  crowded,
  silent, ///< did not send its handshake in time
  unread, ///< sends requests and does not read the answers
};
inline constexpr size_t basp_refusals = 8;

constexpr std::string_view to_string(basp_refusal x) noexcept {
  constexpr std::array<std::string_view, basp_refusals> names{
    "malformed", "oversized", "out_of_turn", "foreign", "impostor", "crowded", "silent", "unread"};
  return names[static_cast<size_t>(x)];
}

} // namespace headrace
