#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headrace {

/// Why a connection to or from the actor port was closed by us.
enum class basp_refusal : uint8_t {
  malformed,   ///< no frame of the protocol, or one that contradicts itself
  oversized,   ///< announced a larger payload than any of ours
  out_of_turn, ///< a handshake where there must be none, or something else where there must be one
  foreign,     ///< well formed, but nothing that headrace sends
  impostor,    ///< speaks in the name of another node, or for another
  crowded,     ///< had not greeted when too many others came, or too many descriptors are in use
  silent,      ///< did not greet in time
  unread,      ///< asks on, and does not read the answers
};
inline constexpr size_t basp_refusals = 8;

constexpr std::string_view to_string(basp_refusal x) noexcept {
  constexpr std::array<std::string_view, basp_refusals> names{
    "malformed", "oversized", "out_of_turn", "foreign", "impostor", "crowded", "silent", "unread"};
  return names[static_cast<size_t>(x)];
}

} // namespace headrace
