#include "headrace/runtime/link/connector.hpp"

#include "headrace/runtime/link/listener.hpp"
#include "headrace/runtime/link/socket_link.hpp"
#include "headrace/runtime/link/wire/own_sockets.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <unistd.h>
#include <utility>

namespace headrace::detail {

connector::connector(std::shared_ptr<link_core> core, std::shared_ptr<io_loop> loop,
                     std::string host, uint16_t port, link_connected done)
  : core_(std::move(core)),
    loop_(std::move(loop)),
    host_(std::move(host)),
    port_(port),
    address_(to_address(host_, port)),
    done_(std::move(done)),
    resolver_(loop_->context()),
    socket_(loop_->context()),
    timer_(loop_->context()) {}

void connector::start() {
  if (!loop_->add(shared_from_this()))
    return fail(cancelled("the link service has stopped"));
  auto self = shared_from_this();
  timer_.expires_after(core_->options.connect_timeout);
  timer_.async_wait([self](const asio::error_code& error) {
    if (!error)
      self->fail(deadline_exceeded("cannot connect to " + self->address_
                                   + ": no answer in time; is the host up and the port open?"));
  });
  asio::error_code not_numeric;
  auto numeric = asio::ip::make_address(host_, not_numeric);
  if (!not_numeric) {
    untried_.emplace_back(numeric, port_);
    return try_next("");
  }
  resolver_.async_resolve(
    host_, std::to_string(port_), [self](const asio::error_code& error, const auto& found) {
      if (!self->done_)
        return;
      if (error)
        return self->fail(unavailable("cannot connect to " + self->address_
                                      + ": the host name is not known: " + error.message()));
      for (const auto& entry : found) self->untried_.push_back(entry.endpoint());
      std::reverse(self->untried_.begin(), self->untried_.end());
      self->try_next("the host has no address");
    });
}

// Asio's free function async_connect, which tries addresses in turn, is not used, because programs
// that this process starts would inherit the sockets that it opens.
void connector::try_next(std::string why) {
  if (untried_.empty())
    return fail(unavailable("cannot connect to " + address_ + ": " + why));
  const auto to = untried_.back();
  untried_.pop_back();
  asio::error_code error;
  socket_.close(error);
  error.clear();
  const auto fd = open_own_socket(to.protocol().family());
  if (fd < 0)
    error.assign(errno, asio::error::get_system_category());
  else if (socket_.assign(to.protocol(), fd, error))
    ::close(fd);
  if (error)
    return try_next(error.message());
  socket_.async_connect(to, [self = shared_from_this()](const asio::error_code& failed) {
    if (!self->done_)
      return;
    if (!failed)
      return self->established();
    self->try_next(failed == asio::error::connection_refused ? "nobody listens there"
                                                             : failed.message());
  });
}

void connector::established() {
  timer_.cancel();
  auto done = std::exchange(done_, nullptr);
  std::make_shared<socket_link>(core_, loop_, std::move(socket_), socket_link::side::connecting,
                                address_, std::move(done))
    ->start();
  loop_->remove(shared_from_this());
}

void connector::fail(const status& why) {
  auto done = std::exchange(done_, nullptr);
  if (!done)
    return;
  auto self = shared_from_this();
  timer_.cancel();
  resolver_.cancel();
  asio::error_code ignored;
  socket_.close(ignored);
  loop_->remove(self);
  done(why);
}

} // namespace headrace::detail
