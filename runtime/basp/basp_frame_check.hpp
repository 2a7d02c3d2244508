#pragma once

#include "headrace/runtime/basp/basp_content.hpp"
#include "headrace/runtime/basp/basp_refusal.hpp"

#include <optional>
#include <unordered_set>

namespace headrace::detail {

/// The decision about a frame.
struct basp_verdict {
  enum class fate : uint8_t {
    pass,   ///< pass the frame to the framework
    ignore, ///< drop the frame: it is valid, and not needed
    leave,  ///< close the connection: the peer has only tested whether this node listens
    refuse, ///< close the connection, and count the refusal
  };
  fate what = fate::pass;
  basp_refusal cause = basp_refusal::malformed; ///< set if the frame is refused
  const char* problem = "";                     ///< the reason, if the frame is refused
};

/// Decides for one connection which frames are passed to the framework: complete frames, with
/// correct sizes, that a headrace node would send after the earlier frames. Other frames can make
/// release 0.17 of the framework follow null pointers, fill memory or confuse types.
class basp_frame_check {
public:
  enum class side : uint8_t { accepted, connected };

  /// `self`: the name of this node.
  basp_frame_check(side mine, basp_node self) : side_(mine), self_(self) {}

  /// Decides about a frame by its header, before any of the payload is read. For a frame without a
  /// payload this is the only call.
  basp_verdict header(const basp_header& x) const;
  /// Decides about a frame by its payload, `bytes`, after `header(x)` has returned `pass`.
  /// @pre `bytes.size() == x.payload_bytes`
  basp_verdict payload(const basp_header& x, std::span<const char> bytes);

  /// True if the peer has sent its handshake.
  bool greeted() const noexcept { return peer_.has_value(); }

  /// The most living actors of the peer that may have sent messages. There is a limit because the
  /// framework keeps a proxy for each of them.
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
  bool selected_ = false; ///< the peer has chosen this connection
  std::unordered_set<uint64_t> senders_;
};

} // namespace headrace::detail
