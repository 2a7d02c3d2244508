#pragma once

#include "headrace/runtime/message/types.hpp"
#include "headrace/runtime/node/node.hpp"

#include <functional>

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

/// As above on a thread of its own; `done` is called once, from there. The node waits for it when
/// it ends.
void connect_async(node& from, const address& to, duration limit,
                   std::function<void(result<connection>)> done);

} // namespace headrace
