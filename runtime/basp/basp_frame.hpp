#pragma once

#include "headrace/runtime/message/message.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace headrace {

// The frames of the actor framework's network protocol (BASP, as release 0.17 speaks it): a header
// of fixed size, numbers in network order, then the payload that it announces.

enum class basp_operation : uint8_t {
  server_handshake = 0, ///< the first frame of the side that accepted the connection
  /// The first frame of the side that connected; sent again when it chooses this connection.
  client_handshake = 1,
  direct_message = 2,  ///< from an actor of the peer to one of ours
  routed_message = 3,  ///< a message between two other nodes
  monitor_message = 4, ///< the peer has a proxy for an actor of ours
  down_message = 5,    ///< an actor of the peer, for which we have a proxy, has ended
  heartbeat = 6,
};

struct basp_header {
  static constexpr size_t bytes = 32;

  uint8_t operation = 0;
  uint16_t padding = 0;
  uint8_t flags = 0;
  uint32_t payload_bytes = 0;
  /// In a server's handshake the protocol version, in a direct message its id, else zero.
  uint64_t data = 0;
  uint64_t source_actor = 0;
  uint64_t dest_actor = 0;

  static basp_header parse(std::span<const char, bytes> in) noexcept;
  bool operator==(const basp_header&) const = default;
  bool is(basp_operation x) const noexcept { return operation == static_cast<uint8_t>(x); }
};
/// For the log: the numbers, and the operation's name if it has one.
std::string to_string(const basp_header& x);

/// In a direct message: `dest_actor` is a name.
inline constexpr uint8_t basp_named_receiver = 1;
/// In a client's handshake: this connection is to be used.
inline constexpr uint8_t basp_select_connection = 2;
/// The protocol version in a server's handshake.
inline constexpr uint64_t basp_version = 3;

/// How a node is named in payloads: a word for the kind of name, process id, 20 bytes of host.
inline constexpr size_t basp_node_bytes = 8 + 4 + 20;
using basp_node = std::array<char, basp_node_bytes>;

/// The bytes around the words of the largest message: the name of its type, and sizes.
inline constexpr size_t longest_basp_payload = max_message_bytes + 256;
inline constexpr size_t longest_basp_greeting = size_t{1} << 16;

} // namespace headrace
