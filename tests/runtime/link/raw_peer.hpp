#pragma once

#include "tests/support/relay.hpp"

#include "headrace/runtime/link/frames/frame_writer.hpp"
#include "headrace/runtime/link/frames/hello.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace headrace::detail::test {

/// A plain socket, with which a test sends any bytes as a peer.
class raw_peer {
public:
  /// Connects to a port of the loopback.
  explicit raw_peer(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    auto at = loopback(port);
    if (::connect(fd_, reinterpret_cast<sockaddr*>(&at), sizeof(at)) != 0)
      throw std::runtime_error{"raw_peer: cannot connect"};
    bound_waiting();
  }
  raw_peer(raw_peer&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~raw_peer() {
    if (fd_ >= 0)
      ::close(fd_);
  }
  /// Takes over a socket.
  static raw_peer of(int fd) { return raw_peer{fd, 0}; }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0)
        return;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }
  /// All bytes until the other side closes the connection, or until a time limit.
  std::string read_all() {
    std::string out;
    char bytes[4096];
    for (;;) {
      auto n = ::recv(fd_, bytes, sizeof(bytes), 0);
      if (n <= 0) {
        timed_out_ = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        return out;
      }
      out.append(bytes, static_cast<size_t>(n));
    }
  }
  /// The next bytes, at most `most`; empty at the end, or after a time limit.
  std::string read(size_t most) {
    std::string out(most, '\0');
    auto n = ::recv(fd_, out.data(), most, 0);
    timed_out_ = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    out.resize(n > 0 ? static_cast<size_t>(n) : 0);
    return out;
  }
  int socket() const { return fd_; }
  bool timed_out() const { return timed_out_; }
  void finish_sending() { ::shutdown(fd_, SHUT_WR); }

  static sockaddr_in loopback(uint16_t port) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    a.sin_port = htons(port);
    return a;
  }

private:
  raw_peer(int fd, int) : fd_(fd) { bound_waiting(); }
  void bound_waiting() {
    timeval t{20, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
  }
  int fd_;
  bool timed_out_ = false;
};

/// A plain listening socket, with which a test acts as any server.
class raw_listener {
public:
  /// Once more than `backlog` connections wait to be accepted, further attempts get no answer.
  explicit raw_listener(int backlog = 4) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    auto at = raw_peer::loopback(0);
    socklen_t size = sizeof(at);
    if (::bind(fd_, reinterpret_cast<sockaddr*>(&at), size) != 0 || ::listen(fd_, backlog) != 0
        || ::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size) != 0)
      throw std::runtime_error{"raw_listener: cannot listen"};
    port_ = ntohs(at.sin_port);
  }
  ~raw_listener() { ::close(fd_); }
  uint16_t port() const { return port_; }
  raw_peer accept() { return raw_peer::of(::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC)); }

private:
  int fd_;
  uint16_t port_ = 0;
};

inline std::string text_of(frame_writer& writer) {
  std::string out;
  for (auto batch = writer.batch(); !batch.empty(); batch = writer.batch()) {
    size_t n = 0;
    for (const auto& x : batch) {
      out.append(static_cast<const char*>(x.iov_base), x.iov_len);
      n += x.iov_len;
    }
    writer.written(n);
  }
  return out;
}

/// The bytes of a hello frame.
inline std::string hello_bytes(const link_hello& hello = {
                                 .node_id = 99, .boot_id = "x", .role = "raw"}) {
  frame_writer writer;
  writer.push_hello(encode(hello));
  return text_of(writer);
}

/// The bytes of a frame's prefix.
inline std::string prefix_bytes(const frame_prefix& prefix) {
  std::string out(sizeof(prefix), '\0');
  store(prefix, reinterpret_cast<std::byte*>(out.data()));
  return out;
}

} // namespace headrace::detail::test
