#include "headrace/runtime/link/listener.hpp"

#include "headrace/runtime/base/descriptors.hpp"
#include "headrace/runtime/link/socket_link.hpp"
#include "headrace/runtime/link/wire/own_sockets.hpp"

#include <cerrno>
#include <chrono>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace headrace::detail {

using asio::ip::tcp;

namespace {
constexpr auto pause_between_tries = std::chrono::milliseconds{100};
}

std::string to_address(const std::string& host, uint16_t port) {
  auto v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string to_address(const tcp::endpoint& x) {
  return to_address(x.address().to_string(), x.port());
}

listener::listener(std::shared_ptr<link_core> core, std::vector<std::shared_ptr<io_loop>> loops,
                   link_accepted on_accepted)
  : core_(std::move(core)),
    loops_(std::move(loops)),
    on_accepted_(std::move(on_accepted)),
    acceptor_(loops_.front()->context()),
    pause_(loops_.front()->context()) {}

result<uint16_t> listener::open(const std::string& host, uint16_t port) {
  auto address = to_address(host, port);
  asio::error_code error;
  tcp::resolver resolver{loops_.front()->context()};
  auto found = resolver.resolve(host, std::to_string(port), tcp::resolver::passive, error);
  if (error || found.empty())
    return invalid_argument("cannot listen on " + address + ": '" + host
                            + "' is not an address of this machine: " + error.message());
  auto endpoint = found.begin()->endpoint();
  auto failed = [&](status_code code, const std::string& hint) {
    return status{code, "cannot listen on " + address + ": " + error.message() + hint};
  };
  protocol_ = endpoint.protocol();
  const auto fd = open_own_socket(protocol_.family());
  if (fd < 0)
    error.assign(errno, asio::error::get_system_category());
  else if (acceptor_.assign(protocol_, fd, error))
    ::close(fd);
  if (error)
    return failed(status_code::resource_exhausted, "");
  asio::error_code ignored;
  acceptor_.set_option(tcp::acceptor::reuse_address{true}, ignored);
  if (!acceptor_.bind(endpoint, error))
    acceptor_.listen(tcp::acceptor::max_listen_connections, error);
  if (error == asio::error::address_in_use)
    return failed(status_code::already_exists, "; choose another port, or 0 for a free one");
  if (error == asio::error::access_denied)
    return failed(status_code::permission_denied, "; choose a port from 1024 on");
  if (error)
    return failed(status_code::invalid_argument, "; it must be an address of this machine");
  return acceptor_.local_endpoint(error).port();
}

void listener::start() {
  if (loops_.front()->add(shared_from_this()))
    accept();
}

void listener::stop(const status&) {
  stopped_ = true;
  asio::error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
}

// The function accept of Asio is not used, because its sockets would be inherited by programs that
// this process starts.
void listener::accept() {
  acceptor_.async_wait(tcp::acceptor::wait_read,
                       [self = shared_from_this()](const asio::error_code& error) {
                         if (self->stopped_)
                           return;
                         error ? self->rest(error.message()) : self->take();
                       });
}

void listener::take() {
  // The upper half of the descriptors is reserved for work on open connections, above all for the
  // files of pipelines.
  if (lower_half_of_descriptors_taken(acceptor_.native_handle()))
    return rest("half of the descriptors are in use");
  const auto fd = accept_own_socket(acceptor_.native_handle());
  if (fd >= 0) {
    resting_ = false;
    welcome(fd);
    return accept();
  }
  switch (errno) {
  case EAGAIN:
  case EINTR:
  // These errors concern one connection, which ended before it was accepted.
  case ECONNABORTED:
  case EPROTO:
  case ENETDOWN:
  case ENETUNREACH:
  case EHOSTDOWN:
  case EHOSTUNREACH: return accept();
  default: return rest(std::generic_category().message(errno));
  }
}

// Accepts again after a pause. Meanwhile new connections stay in the queue of the kernel.
void listener::rest(const std::string& why) {
  if (!std::exchange(resting_, true) && core_->options.on_paused)
    core_->options.on_paused(
      resource_exhausted("no link is accepted for the time being: " + why
                         + " (ulimit -n: " + std::to_string(descriptor_limit()) + ")"));
  pause_.expires_after(pause_between_tries);
  pause_.async_wait([self = shared_from_this()](const asio::error_code&) {
    if (!self->stopped_)
      self->accept();
  });
}

void listener::welcome(int fd) {
  const auto& loop = loops_[next_++ % loops_.size()];
  tcp::socket socket{loop->context()};
  asio::error_code error;
  socket.assign(protocol_, fd, error);
  if (error) {
    ::close(fd);
    return;
  }
  auto peer = socket.remote_endpoint(error);
  if (error)
    return; // the peer has closed the connection already
  auto ready = [self = shared_from_this()](result<std::shared_ptr<link>> x) {
    if (x && self->on_accepted_)
      self->on_accepted_(*std::move(x));
  };
  auto made =
    std::make_shared<socket_link>(core_, loop, std::move(socket), socket_link::side::accepting,
                                  to_address(peer), std::move(ready));
  made->enter_crowd();
  loop->post([made] { made->start(); });
}

} // namespace headrace::detail
