#pragma once

#include "headrace/runtime/message/types.hpp"
#include "headrace/runtime/node/node.hpp"

namespace headrace::detail {

/// The published actor of another node, and that node's hello.
struct connection {
  published_actor actor;
  hello peer;
};

/// The condition under which connecting includes a hello. `once`: only if the nodes have not
/// exchanged hellos yet, or their connection was reported as lost. `anew`: always; for callers that
/// were cut off, or that do not watch the connection.
enum class greeting : uint8_t { once, anew };

/// Connects and exchanges hellos. Blocks for at most `limit`, so it is not for actors (see
/// peer.hpp). Errors name the address and the reason: no program listens there, another program
/// listens there, no answer in time, no trusted certificate, or another major version (with both
/// versions).
result<connection> connect(node& from, const address& to, duration limit = std::chrono::seconds{5},
                           greeting how = greeting::anew);

/// Sends `what` and waits for the answer, for at most `limit`; for threads that are not actors. An
/// answer that reports a failure is returned as that failure.
result<envelope> ask(node& from, const published_actor& whom, const envelope& what,
                     duration limit = std::chrono::seconds{5});

} // namespace headrace::detail
