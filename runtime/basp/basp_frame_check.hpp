#pragma once

#include "headrace/runtime/basp/basp_content.hpp"
#include "headrace/runtime/basp/basp_refusal.hpp"

#include <optional>
#include <unordered_set>

namespace headrace {

/// What becomes of a frame.
struct basp_verdict {
  enum class fate : uint8_t {
    pass,   ///< to the framework
    ignore, ///< nothing is wrong with it, and nobody here needs it
    leave,  ///< the peer only looked whether we are here: close the connection
    refuse, ///< close the connection, and count it
  };
  fate what = fate::pass;
  basp_refusal cause = basp_refusal::malformed; ///< of a refusal
  const char* problem = "";                     ///< with what was refused
};

/// Decides for one connection which frames the framework may see: those that a node of ours sends
/// at that point of a conversation, complete, with sizes that are true. Release 0.17 of the
/// framework follows null pointers, fills memory or mistakes types where others come.
class basp_frame_check {
public:
  enum class side : uint8_t { accepted, connected };

  /// `self` is this node's own name.
  basp_frame_check(side mine, basp_node self) : side_(mine), self_(self) {}

  /// Before any of the payload is read. A frame without a payload is decided here alone.
  basp_verdict header(const basp_header& x) const;
  /// The payload of a header that was not refused; has as many bytes as that announced.
  basp_verdict payload(const basp_header& x, std::span<const char> bytes);

  /// Whether the peer said who it is.
  bool greeted() const noexcept { return peer_.has_value(); }

  /// Actors of the peer that live and sent something. For each the framework keeps a proxy.
  static constexpr size_t most_senders = size_t{1} << 16;

private:
  basp_verdict server_handshake(basp_content in);
  basp_verdict client_handshake(basp_content in);
  basp_verdict direct_message(const basp_header& x, basp_content in);
  basp_verdict monitor_message(basp_content in) const;
  basp_verdict down_message(const basp_header& x, basp_content in);
  bool from_peer_to_us(basp_content& in) const;

  side side_;
  basp_node self_;
  std::optional<basp_node> peer_;
  bool selected_ = false; ///< the peer chose this connection
  std::unordered_set<uint64_t> senders_;
};

} // namespace headrace
