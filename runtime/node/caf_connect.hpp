#pragma once

#include "headrace/runtime/message/types.hpp"
#include "headrace/runtime/node/node.hpp"

namespace headrace {

/// The published actor of another node, and the node's hello.
struct connection {
  published_actor actor;
  hello peer;
};

/// Whether connecting includes a hello. `once`: not to a node that this one has greeted, and whose
/// connection is not known to be lost. `anew`: always; for callers that were cut off, or that do
/// not watch the connection.
enum class greeting : uint8_t { once, anew };

/// Connects and exchanges hellos. Blocks for at most `limit`, so it is not for actors (see
/// peer.hpp). Errors name the address: nobody listens, another program listens, no answer in time,
/// no trusted certificate, or another major version (both are named).
result<connection> connect(node& from, const address& to, duration limit = std::chrono::seconds{5},
                           greeting how = greeting::anew);

/// Sends `what` and waits for the answer, for at most `limit`; for threads that are not actors. An
/// answer that reports a failure is returned as that failure.
result<envelope> ask(node& from, const published_actor& whom, const envelope& what,
                     duration limit = std::chrono::seconds{5});

} // namespace headrace
