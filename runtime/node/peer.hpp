#pragma once

#include "headrace/runtime/caf/watcher.hpp"
#include "headrace/runtime/node/connect_messages.hpp"

#include <functional>
#include <memory>

namespace headrace::detail {

struct peer_options {
  /// The limit of one attempt to connect.
  duration attempt = std::chrono::seconds{5};
  /// The pause after the first failed attempt; it doubles, with jitter, up to the longest one.
  duration first_pause = std::chrono::milliseconds{50};
  duration longest_pause = std::chrono::seconds{2};
  /// If a connection has existed for this time, the first attempt after its loss is made at once; a
  /// shorter connection counts as a failed attempt.
  duration stable_after = std::chrono::seconds{1};
};

/// Callbacks for the owner, an actor. They are called in the actor's context.
struct peer_events {
  /// The peer is connected. The handle is a new one (a lost handle is never used again).
  std::function<void(const connection&)> on_up;
  /// The connection is lost; attempts to connect follow.
  std::function<void(const status&)> on_down;
  /// An attempt failed; the next one follows after `pause`. May be empty.
  std::function<void(const status&, duration pause)> on_failed;
};

/// Keeps a connection to the published actor of another node, by address, as a part of an actor's
/// state. It connects, watches the other actor, and connects again after a loss. It sends nothing
/// while the peer is connected; if another actor of the owner's node has exchanged hellos with the
/// other node, no further hello is sent until the connection is lost.
class peer {
public:
  /// `watch` is the only watcher of the owner; both outlive the peer.
  template <class Self>
  peer(Self* self, port::watcher& watch, connector_actor connector, address to, peer_events events,
       peer_options options = {})
    : peer(
      host{watch, [self] { return self->clock().now(); },
           [self, connector = std::move(connector)](local<connect_request> what, answered done) {
             port::request(self, connector, patience(*what), what)
               .then([done](const local<connection>& x) { done(*x); },
                     [done](const caf::error& why) { done(to_status(why)); });
           }},
      std::move(to), std::move(events), options) {}
  ~peer();
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;

  /// The handle of the peer's published actor; null while the peer is not connected.
  const published_actor* get() const noexcept;
  const address& where() const noexcept;
  /// Drops the present handle and connects again, for an owner whose requests time out although the
  /// connection exists. `on_down` is called with `why`.
  void renew(const status& why);

private:
  using answered = std::function<void(const result<connection>&)>;
  /// The operations that the owner, an actor of any interface, performs for its peer.
  struct host {
    port::watcher& watch;
    std::function<time_point()> now;
    std::function<void(local<connect_request>, answered)> ask;
  };
  peer(host owner, address to, peer_events events, peer_options options);

  struct impl;
  std::shared_ptr<impl> impl_;
};

} // namespace headrace::detail
