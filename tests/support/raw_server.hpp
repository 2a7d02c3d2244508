#pragma once

#include "headrace/runtime/base/address.hpp"

#include <arpa/inet.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace headrace::detail::test {

/// A server that is not a node. It listens on a loopback port, sends `greeting` over each
/// connection, and keeps all connections open until the object is destroyed.
class raw_server {
public:
  explicit raw_server(std::string greeting) : greeting_(std::move(greeting)) {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(fd_, reinterpret_cast<sockaddr*>(&at), sizeof(at));
    ::listen(fd_, 8);
    socklen_t size = sizeof(at);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    thread_ = std::thread{[this] {
      std::vector<int> open;
      for (;;) {
        auto fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0)
          break;
        open.push_back(fd);
        [[maybe_unused]] auto n = ::send(fd, greeting_.data(), greeting_.size(), MSG_NOSIGNAL);
      }
      for (auto fd : open) ::close(fd);
    }};
  }
  ~raw_server() {
    ::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    ::close(fd_);
  }
  address where() const { return {"", "127.0.0.1", port_}; }

private:
  std::string greeting_;
  int fd_ = -1;
  uint16_t port_ = 0;
  std::thread thread_;
};

} // namespace headrace::detail::test
