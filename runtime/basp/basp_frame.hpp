#pragma once

#include "headrace/runtime/message/message.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace headrace::detail {

// The frames of the actor framework's network protocol (BASP, in the version of release 0.17). A
// frame is a header of fixed size with numbers in network order, and then the payload, whose size
// is in the header.

enum class basp_operation : uint8_t {
  server_handshake = 0, ///< the first frame of the side that accepted the connection
  /// The first frame of the side that connected. That side may send it once more, to make the other
  /// side use this connection if there are several between the two nodes.
  client_handshake = 1,
  direct_message = 2,  ///< from an actor of the peer to one of this node
  routed_message = 3,  ///< a message that nodes between sender and receiver pass on
  monitor_message = 4, ///< the peer has a proxy for an actor of this node
  down_message = 5,    ///< an actor of the peer, for which this node has a proxy, has ended
  heartbeat = 6,
};

struct basp_header {
  static constexpr size_t bytes = 32;

  uint8_t operation = 0;
  uint16_t padding = 0;
  uint8_t flags = 0;
  uint32_t payload_bytes = 0;
  /// In a server's handshake the protocol version, in a direct message its id, otherwise zero.
  uint64_t data = 0;
  uint64_t source_actor = 0;
  uint64_t dest_actor = 0;

  static basp_header parse(std::span<const char, bytes> in) noexcept;
  bool operator==(const basp_header&) const = default;
  bool is(basp_operation x) const noexcept { return operation == static_cast<uint8_t>(x); }
};
/// A text for the log: the numbers of the header, and the name of its operation if it has one.
std::string to_string(const basp_header& x);

/// A flag of direct messages: `dest_actor` is a name.
inline constexpr uint8_t basp_named_receiver = 1;
/// A flag of a client's handshake: the client chooses this connection.
inline constexpr uint8_t basp_select_connection = 2;
/// The protocol version in a server's handshake.
inline constexpr uint64_t basp_version = 3;

/// The size of a node's name in payloads: 8 bytes for the kind of name, 4 for the process id, and
/// 20 for the host.
inline constexpr size_t basp_node_bytes = 8 + 4 + 20;
using basp_node = std::array<char, basp_node_bytes>;

/// The largest payload: the bytes of the largest message, and the bytes around them (the name of
/// the message's type, and sizes).
inline constexpr size_t longest_basp_payload = max_message_bytes + 256;
inline constexpr size_t longest_basp_greeting = size_t{1} << 16;

} // namespace headrace::detail
