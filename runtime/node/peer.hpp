#pragma once

#include "headrace/runtime/node/caf_connect.hpp"

#include <functional>
#include <memory>

namespace headrace {

struct peer_options {
  /// For one attempt to connect.
  duration attempt = std::chrono::seconds{5};
  /// Pause before the second attempt; doubles, with jitter, up to the longest one. The first
  /// attempt after a loss is made at once.
  duration first_pause = std::chrono::milliseconds{50};
  duration longest_pause = std::chrono::seconds{2};
};

/// What the owner hears, always in its own context.
struct peer_events {
  /// The peer is there: a handle that has not been seen before (a handle that was lost never
  /// revives).
  std::function<void(const connection&)> on_up;
  /// The peer was there and is lost; it is being looked for.
  std::function<void(const status&)> on_down;
  /// An attempt failed; the next follows after `pause`. May be empty.
  std::function<void(const status&, duration pause)> on_failed;
};

/// Asks for a connection after `delay`. Answered with one, or with an error.
struct connect_request {
  address to;
  duration delay = duration::zero();
  duration limit = std::chrono::seconds{5};
};
/// Connects on behalf of actors, so that none of them blocks. Each node has one; tests fake it.
using connector_actor = port::handle<caf::result<local<connection>>(local<connect_request>)>;
connector_actor connector_of(node& x);

/// Keeps the published actor of another node, by address, for an actor: part of its state.
/// Connects, watches, and connects again when it is lost. Sends nothing while the peer is there.
class peer {
public:
  /// `watch` is the owner's one watcher; both outlive the peer.
  template <class Self>
  peer(Self* self, port::watcher& watch, connector_actor connector, address to, peer_events events,
       peer_options options = {})
    : peer(watch, std::move(to), std::move(events), options,
           [self, connector = std::move(connector)](local<connect_request> what, answered done) {
             port::request(self, connector, caf::infinite, std::move(what))
               .then([done](const local<connection>& x) { done(*x); },
                     [done](const caf::error& why) { done(to_status(why)); });
           }) {}
  ~peer();
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;

  /// The handle, or none while the peer is away.
  const published_actor* get() const noexcept;
  const address& where() const noexcept;
  /// Gives the present handle up and connects anew: what the owner does when requests time out
  /// though the connection stands. `on_down` is called with `why`.
  void renew(const status& why);

private:
  using answered = std::function<void(const result<connection>&)>;
  using asks = std::function<void(local<connect_request>, answered)>;
  peer(port::watcher& watch, address to, peer_events events, peer_options options, asks ask);

  struct impl;
  std::shared_ptr<impl> impl_;
};

} // namespace headrace
