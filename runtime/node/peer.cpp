#include "headrace/runtime/node/peer.hpp"

#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/supervision/backoff.hpp"

#include <optional>
#include <utility>

namespace headrace::detail {

/// Callbacks have weak pointers to this object, so that answers may arrive after the peer is
/// destroyed.
struct peer::impl : std::enable_shared_from_this<peer::impl> {
  host owner;
  address to;
  peer_events events;
  duration limit;
  backoff pauses;
  std::optional<connection> present;
  time_point since;
  port::watcher::token watched = 0;
  /// `once` only for the first attempt: a node that was lost, or did not answer, is sent a hello
  /// again.
  greeting how = greeting::once;

  impl(host owner, address to, peer_events events, peer_options options)
    : owner(std::move(owner)),
      to(std::move(to)),
      events(std::move(events)),
      limit(options.attempt),
      pauses({.first = options.first_pause,
              .longest = options.longest_pause,
              .stable_after = options.stable_after},
             random_id()) {}

  void seek(duration delay) {
    owner.ask(make_local<connect_request>(to, delay, limit, std::exchange(how, greeting::anew)),
              [weak = weak_from_this()](const result<connection>& found) {
                if (auto self = weak.lock())
                  found ? self->up(*found) : self->failed(found.status());
              });
  }

  void up(const connection& found) {
    present = found;
    since = owner.now();
    watched = owner.watch.watch(found.actor, [weak = weak_from_this()](const caf::error& why) {
      if (auto self = weak.lock()) {
        self->watched = 0;
        self->down(why ? to_status(why) : unavailable("it ended"));
      }
    });
    events.on_up(found);
  }

  void down(const status& why) {
    present.reset();
    auto stayed = owner.now() - since;
    auto stable = stayed >= pauses.options().stable_after;
    if (stable)
      pauses.reset();
    seek(stable ? duration::zero() : pauses.failed(stayed));
    events.on_down(why.with_context("lost the node at " + to_string(to)));
  }

  void failed(const status& why) {
    auto pause = pauses.failed(duration::zero());
    seek(pause);
    if (events.on_failed)
      events.on_failed(why, pause);
  }

  void forget() {
    if (watched != 0)
      owner.watch.forget(std::exchange(watched, 0));
  }
};

peer::peer(host owner, address to, peer_events events, peer_options options)
  : impl_(std::make_shared<impl>(std::move(owner), std::move(to), std::move(events), options)) {
  impl_->seek(duration::zero());
}

peer::~peer() { impl_->forget(); }

const published_actor* peer::get() const noexcept {
  return impl_->present ? &impl_->present->actor : nullptr;
}

const address& peer::where() const noexcept { return impl_->to; }

void peer::renew(const status& why) {
  if (!impl_->present)
    return;
  impl_->forget();
  impl_->down(why);
}

} // namespace headrace::detail
