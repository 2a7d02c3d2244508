#include "headrace/runtime/link/listener.hpp"

#include "headrace/runtime/link/socket_link.hpp"

#include <chrono>

namespace headrace {

using asio::ip::tcp;

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
  if (acceptor_.open(endpoint.protocol(), error))
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

void listener::accept() {
  const auto& loop = loops_[next_++ % loops_.size()];
  acceptor_.async_accept(loop->context(), [self = shared_from_this(), loop](
                                            const asio::error_code& error, tcp::socket socket) {
    if (self->stopped_)
      return;
    if (!error) {
      self->welcome(loop, std::move(socket));
      return self->accept();
    }
    // Out of descriptors, most likely: try again when some may be free.
    self->pause_.expires_after(std::chrono::milliseconds{50});
    self->pause_.async_wait([self](const asio::error_code&) {
      if (!self->stopped_)
        self->accept();
    });
  });
}

void listener::welcome(const std::shared_ptr<io_loop>& loop, tcp::socket socket) {
  asio::error_code error;
  auto peer = socket.remote_endpoint(error);
  if (error)
    return; // gone already
  auto ready = [self = shared_from_this()](result<std::shared_ptr<link>> x) {
    if (x && self->on_accepted_)
      self->on_accepted_(*std::move(x));
  };
  auto made =
    std::make_shared<socket_link>(core_, loop, std::move(socket), socket_link::side::accepting,
                                  to_address(peer), std::move(ready));
  loop->post([made] { made->start(); });
}

} // namespace headrace
