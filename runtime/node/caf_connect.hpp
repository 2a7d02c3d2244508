#pragma once

#include "headrace/runtime/message/types.hpp"
#include "headrace/runtime/node/node.hpp"

namespace headrace {

/// The published actor of another node, and who that is.
struct connection {
  published_actor actor;
  hello peer;
};

/// What a connection begins with. A node that this one has greeted, and whose connection stands as
/// far as is known, need not be asked again: `once`. Whoever was cut off, or does not watch what
/// it connects to, has it asked: `anew`.
enum class greeting : uint8_t { once, anew };

/// Connects and exchanges hellos; blocks for at most `limit`, so it is not for actors (see
/// peer.hpp). Errors name the address: nobody listens, something else listens, nobody answers in
/// time, no trust, or another major version (both are named).
result<connection> connect(node& from, const address& to, duration limit = std::chrono::seconds{5},
                           greeting how = greeting::anew);

/// Sends `what` and waits for the answer, for at most `limit`: for threads that are no actors. An
/// answer that says the request failed is that failure.
result<envelope> ask(node& from, const published_actor& whom, const envelope& what,
                     duration limit = std::chrono::seconds{5});

} // namespace headrace
