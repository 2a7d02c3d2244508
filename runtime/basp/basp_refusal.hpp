#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headrace::detail {

/// The reason why this node closed a connection of the actor port.
enum class basp_refusal : uint8_t {
  malformed,   ///< the bytes are not a valid frame of the protocol
  oversized,   ///< the peer announced a larger payload than headrace ever sends
  out_of_turn, ///< a handshake at the wrong time, or another frame in place of a handshake
  foreign,     ///< well formed, but not a frame that headrace sends
  impostor,    ///< the frame was sent in the name of another node, or for another node
  /// The connection was the oldest of too many whose peers had not sent a handshake, or it was
  /// accepted when too few descriptors were free.
  crowded,
  silent, ///< the peer did not send its handshake in time
  unread, ///< the peer sends requests and does not read the answers
};
inline constexpr size_t basp_refusals = 8;

constexpr std::string_view to_string(basp_refusal x) noexcept {
  constexpr std::array<std::string_view, basp_refusals> names{
    "malformed", "oversized", "out_of_turn", "foreign", "impostor", "crowded", "silent", "unread"};
  return names[static_cast<size_t>(x)];
}

} // namespace headrace::detail
