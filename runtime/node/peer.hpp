#pragma once

#include "headrace/runtime/caf/watcher.hpp"
#include "headrace/runtime/node/connect_messages.hpp"

#include <functional>
#include <memory>

namespace headrace {

struct peer_options {
  /// The limit of one attempt to connect.
  duration attempt = std::chrono::seconds{5};
  /// Pause after the first failed attempt; doubles, with jitter, up to the longest one.
  duration first_pause = std::chrono::milliseconds{50};
  duration longest_pause = std::chrono::seconds{2};
  /// If a peer was connected for this long, the first attempt after a loss is made at once; a
  /// shorter connection counts as a failed attempt.
  duration stable_after = std::chrono::seconds{1};
};

/// Callbacks for the owner, which are called in its own context.
struct peer_events {
  /// The peer is connected. The handle has not been seen before (a lost handle is never used
  /// again).
  std::function<void(const connection&)> on_up;
  /// The connection is lost; attempts to connect follow.
  std::function<void(const status&)> on_down;
  /// An attempt failed; the next follows after `pause`. May be empty.
  std::function<void(const status&, duration pause)> on_failed;
};

/// Keeps a connection to the published actor of another node, by address, as a part of an actor's
/// state. Connects, watches, and connects again after a loss. Sends nothing while the peer is
/// connected; a node that this process has greeted for another actor is not greeted again before it
/// is lost.
class peer {
public:
  /// `watch` is the owner's one watcher; both outlive the peer.
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

  /// The handle, or none while the peer is away.
  const published_actor* get() const noexcept;
  const address& where() const noexcept;
  /// Drops the present handle and connects anew, for an owner whose requests time out although the
  /// connection stands. `on_down` is called with `why`.
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

} // namespace headrace
