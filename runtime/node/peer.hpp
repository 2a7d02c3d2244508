#pragma once

#include "headrace/runtime/caf/watcher.hpp"
#include "headrace/runtime/node/connect_messages.hpp"

#include <functional>
#include <memory>

namespace headrace {

struct peer_options {
  /// For one attempt to connect.
  duration attempt = std::chrono::seconds{5};
  /// Pause after the first failed attempt; doubles, with jitter, up to the longest one.
  duration first_pause = std::chrono::milliseconds{50};
  duration longest_pause = std::chrono::seconds{2};
  /// A peer that was there for this long is looked for at once when it is lost; a shorter stay
  /// counts as a failed attempt.
  duration stable_after = std::chrono::seconds{1};
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

/// Keeps the published actor of another node, by address, for an actor: part of its state.
/// Connects, watches, and connects again when it is lost. Sends nothing while the peer is there; a
/// node that this process greeted for another of its actors is not greeted again before it is lost.
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
  /// Gives the present handle up and connects anew: what the owner does when requests time out
  /// though the connection stands. `on_down` is called with `why`.
  void renew(const status& why);

private:
  using answered = std::function<void(const result<connection>&)>;
  /// What the owner, an actor of any interface, does for its peer.
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
