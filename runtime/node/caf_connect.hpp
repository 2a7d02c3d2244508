#pragma once

#include "headrace/runtime/message/types.hpp"
#include "headrace/runtime/node/node.hpp"

namespace headrace {

/// The published actor of another node, and who that is.
struct connection {
  published_actor actor;
  hello peer;
};

/// Connects and exchanges hellos; blocks for at most `limit`, so it is not for actors (see
/// peer.hpp). Errors name the address: nobody listens, something else listens, nobody answers in
/// time, no trust, or another major version (both are named).
result<connection> connect(node& from, const address& to, duration limit = std::chrono::seconds{5});

/// Sends `what` and waits for the answer, for at most `limit`: for threads that are no actors. An
/// answer that says the request failed is that failure.
result<envelope> ask(node& from, const published_actor& whom, const envelope& what,
                     duration limit = std::chrono::seconds{5});

} // namespace headrace
