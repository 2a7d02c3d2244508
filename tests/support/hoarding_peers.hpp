#pragma once

#include "tests/runtime/basp/basp_frames.hpp"
#include "tests/runtime/link/raw_peer.hpp"
#include "tests/support/sanitized.hpp"

#include <list>
#include <stdexcept>

namespace headrace::detail::test {

/// Connections to an actor port on loopback that greet like nodes. Then each sends a message of the
/// largest size without its last byte. The port keeps the bytes of these incomplete messages, at
/// least `bytes` in all.
class hoarding_peers {
public:
  hoarding_peers(uint16_t port, size_t bytes) {
    auto header = basp_direct({}).header;
    header.payload_bytes = longest_basp_payload;
    const std::string almost(longest_basp_payload - 1, 'x');
    try {
      for (size_t sent = 0; sent < bytes; sent += almost.size()) {
        auto& peer = peers_.emplace_back(port);
        peer.send(basp_client_handshake(static_cast<char>(peers_.size())).bytes()
                  + basp_frame{header, {}}.bytes());
        peer.send(almost);
      }
    } catch (const std::runtime_error&) {
      // Connecting fails if the server's process has already reached its memory limit and ended.
    }
  }

private:
  std::list<raw_peer> peers_;
};

} // namespace headrace::detail::test
