#pragma once

#include "headrace/runtime/base/address.hpp"

#include <arpa/inet.h>
#include <semaphore>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace headrace::detail::test {

/// A listener in the place of a server that is gone or not yet started. It accepts each connection
/// and closes it without sending a byte, until `make_way` frees the port for another server.
class closing_server {
public:
  /// If `port` is 0, the server listens on any free port.
  explicit closing_server(uint16_t port = 0) {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(port);
    if (::bind(fd_, reinterpret_cast<sockaddr*>(&at), sizeof(at)) != 0 || ::listen(fd_, 8) != 0)
      throw std::runtime_error{"the port is taken"};
    socklen_t size = sizeof(at);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    thread_ = std::thread{[this] {
      for (;;) {
        const auto fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0)
          return;
        ::close(fd);
        visited_.release();
      }
    }};
  }
  ~closing_server() { make_way(); }

  uint16_t port() const noexcept { return port_; }
  std::string address() const { return host_and_port("127.0.0.1", port_); }
  /// Waits for a connection that was accepted and closed, and that no earlier call has waited for.
  void await_visit() { visited_.acquire(); }
  void make_way() {
    if (!thread_.joinable())
      return;
    ::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    ::close(fd_);
  }

private:
  int fd_ = -1;
  uint16_t port_ = 0;
  std::counting_semaphore<> visited_{0};
  std::thread thread_;
};

} // namespace headrace::detail::test
