#pragma once

#include <arpa/inet.h>
#include <array>
#include <cstdint>
#include <sys/socket.h>
#include <unistd.h>

namespace headrace::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/// A sanitizer's own memory would count against a limit of memory.
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// A connection to an actor port on loopback that announces a message of 4 GiB to the framework and
/// sends none of it.
class huge_announcement {
public:
  explicit huge_announcement(uint16_t port)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(port);
    const std::array<unsigned char, 32> header{
      1 /* a client's handshake */, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0};
    sent_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&at), sizeof(at)) == 0
            && ::send(fd_, header.data(), header.size(), MSG_NOSIGNAL) == ssize_t{header.size()};
  }
  huge_announcement(const huge_announcement&) = delete;
  huge_announcement& operator=(const huge_announcement&) = delete;
  ~huge_announcement() { ::close(fd_); }
  bool sent() const noexcept { return sent_; }

private:
  int fd_;
  bool sent_ = false;
};

} // namespace headrace::test
