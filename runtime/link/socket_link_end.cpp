#include "headrace/runtime/link/socket_link.hpp"

#include "headrace/runtime/link/lingering.hpp"

#include <utility>

namespace headrace::detail {

// How a link over a socket ends: it is closed by this node, lost, refused, or dropped because there
// are too many connections.

void socket_link::close(status why) {
  {
    std::lock_guard hold{mutex_};
    if (std::exchange(closed_, true))
      return;
  }
  loop_->post([self = shared_from_this(), why = std::move(why)] { self->finish(why); });
}

void socket_link::lost(const wire_result& how) {
  if (phase_ == phase::open) {
    // If the peer closes the connection inside a message, the link is also counted as refused.
    if (how.state == wire_state::ended && reader_.mid_message()) {
      core_->refused(refusal::truncated);
      return finish(
        unavailable(peer_address_ + " closed the connection in the middle of a message"));
    }
    if (how.state == wire_state::ended)
      return finish(unavailable(peer_address_ + " closed the connection"));
    return finish(how.why.with_context(peer_address_));
  }
  if (how.state == wire_state::failed && how.why.code() == status_code::unauthenticated)
    return refuse(refusal::tls, how.why);
  auto why = how.state == wire_state::failed
               ? how.why
               : unavailable("the connection was closed before the end of the handshake");
  refuse(phase_ == phase::handshake && core_->tls ? refusal::tls : refusal::truncated, why);
}

void socket_link::refuse(refusal cause, const status& why) {
  if (phase_ == phase::closed)
    return;
  core_->refused(cause);
  if (phase_ == phase::open)
    return finish(why.with_context(peer_address_));
  if (side_ == side::accepting) {
    if (core_->options.on_refused)
      core_->options.on_refused(peer_address_, why);
    linger_ = true;
    return finish(why);
  }
  auto text = "cannot use " + peer_address_ + " as a headrace data port: " + why.message();
  if (cause == refusal::bad_magic || cause == refusal::truncated || cause == refusal::silent)
    text += core_->tls ? " (does something else listen there?)"
                       : " (does something else listen there, or does it expect TLS?)";
  finish({why.code(), std::move(text)});
}

void socket_link::make_room() {
  if (phase_ != phase::handshake && phase_ != phase::greeting)
    return;
  core_->refused(refusal::crowded);
  const auto why = resource_exhausted("more than " + std::to_string(core_->options.most_greeting)
                                      + " connections had not finished their handshakes, and this "
                                        "one was the oldest");
  if (core_->options.on_refused)
    core_->options.on_refused(peer_address_, why);
  finish(why);
}

void socket_link::finish(const status& why) {
  if (phase_ == phase::closed)
    return;
  auto self = shared_from_this();
  phase_ = phase::closed;
  std::vector<link_message> dropped;
  {
    std::lock_guard hold{mutex_};
    closed_ = true;
    dropped.swap(inbox_);
    closed_why_ = why;
  }
  timer_.cancel();
  {
    // No thread may write to the descriptor after this, because another socket may have the same
    // descriptor then.
    std::lock_guard writing{write_mutex_};
    writer_ = {};
    queued_.store(0, std::memory_order_relaxed);
    if (linger_) {
      // The connection still uses a descriptor, so `core_->greeting` goes on counting it.
      std::make_shared<lingering>(core_, loop_, std::move(socket_), ticket_)->start();
    } else {
      core_->greeting.leave(ticket_);
      asio::error_code ignored;
      socket_.close(ignored);
    }
  }
  loop_->remove(self);
  if (auto ready = std::exchange(ready_, nullptr)) {
    ready(why);
  } else if (handlers_) {
    // The handlers may own this link. They are moved out first, so that the link is destroyed only
    // after the call.
    if (auto told = std::exchange(*handlers_, {}); told.on_closed)
      told.on_closed(why);
  }
}
} // namespace headrace::detail
