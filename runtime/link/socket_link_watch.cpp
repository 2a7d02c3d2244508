#include "headrace/runtime/link/socket_link.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

namespace headrace::detail {

// Here an open link sends pings, and detects that its peer sends none. All functions run on the
// loop's thread, with one timer for each link, so that they add almost no cost to sending and
// receiving.

namespace {

bool readable(int socket) {
  pollfd fd{socket, POLLIN, 0};
  return ::poll(&fd, 1, 0) > 0;
}

// A second limit, for links whose own timer cannot run or from which nothing is read yet: the
// kernel closes a connection if bytes that were sent to the peer are not acknowledged for twice
// `limit`. Linux also counts the time in which the peer's TCP window is closed, because the peer
// does not read. So twice `limit` must be longer than a living peer may go without reading.
void bound_unacknowledged(int socket, duration limit) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(limit).count();
  const auto most = static_cast<unsigned>(
    std::min<int64_t>(ms > INT64_MAX / 2 ? ms : 2 * ms, std::numeric_limits<int>::max()));
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &most, sizeof(most));
}

} // namespace

void socket_link::keep_watch() {
  if (!watch_) {
    // An older peer refuses pings, and promises none: its silence is not limited.
    if (!peer_.knows_pings())
      return;
    watch_.emplace(core_->options.liveness, peer_.ping_every, clock::system().now());
    if (watch_->limit() != duration::zero())
      bound_unacknowledged(socket_.native_handle(), watch_->limit());
  }
  timer_.expires_at(watch_->next());
  timer_.async_wait([self = shared_from_this()](const asio::error_code& error) {
    if (!error && self->phase_ == phase::open)
      self->look();
  });
}

void socket_link::look() {
  const auto now = clock::system().now();
  auto found = watch_->look(now);
  // After a pause of this process (it was stopped, or the machine was suspended) the time has
  // passed, but bytes that arrived during the pause have not been read yet. They count as arrived.
  if (found == silence_watch::verdict::silent && readable(socket_.native_handle())) {
    watch_->heard();
    found = watch_->look(now);
  }
  if (found == silence_watch::verdict::silent)
    return finish(unavailable(fmt::format(
      "{} has been silent for {:.3g} s (it promised a sign of life every {:.3g} s): it hangs, its "
      "host is gone, or the network loses what it sends",
      peer_address_, in_seconds(watch_->silence(now)), in_seconds(peer_.ping_every))));
  if (found == silence_watch::verdict::ping_due)
    ping();
  if (phase_ == phase::open)
    keep_watch();
}

void socket_link::ping() {
  {
    std::lock_guard hold{mutex_};
    // If something is being written, no ping is needed; if that write is blocked, a ping would be
    // blocked, too.
    if (closed_ || std::exchange(scheduled_, true))
      return;
  }
  {
    std::lock_guard writing{write_mutex_};
    writer_.push_ping();
  }
  // If only the ping was written, `on_drained` is not called: the user of the link had queued
  // nothing.
  if (auto left = write_some(turn_bytes); left.state != progress::idle || left.messages)
    go_on(left);
}

} // namespace headrace::detail
