#include "headrace/runtime/link/wire/wire.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <sys/socket.h>
#include <system_error>

namespace headrace::detail {

namespace {

size_t size_of(std::span<const iovec> xs) {
  size_t n = 0;
  for (const auto& x : xs) n += x.iov_len;
  return n;
}

class plain_wire final : public wire {
public:
  explicit plain_wire(int socket) : socket_(socket) {}

  wire_result handshake() override { return {}; }

  wire_result read(std::span<const iovec> into) override {
    msghdr m{};
    m.msg_iov = const_cast<iovec*>(into.data());
    m.msg_iovlen = into.size();
    return outcome(into, wire_state::want_read,
                   [&] { return ::recvmsg(socket_, &m, MSG_DONTWAIT); });
  }

  wire_result write(std::span<const iovec> from) override {
    from = from.first(std::min<size_t>(from.size(), IOV_MAX));
    msghdr m{};
    m.msg_iov = const_cast<iovec*>(from.data());
    m.msg_iovlen = from.size();
    auto r = outcome(from, wire_state::want_write,
                     [&] { return ::sendmsg(socket_, &m, MSG_DONTWAIT | MSG_NOSIGNAL); });
    return r;
  }

private:
  template <class Call>
  wire_result outcome(std::span<const iovec> what, wire_state wanted, Call call) {
    ssize_t n;
    do n = call();
    while (n < 0 && errno == EINTR);
    if (n > 0)
      return {.bytes = static_cast<size_t>(n), .drained = static_cast<size_t>(n) < size_of(what)};
    if (n == 0)
      return {.state = wire_state::ended};
    if (errno == EAGAIN || errno == EWOULDBLOCK)
      return {.state = wanted};
    return {.state = wire_state::failed,
            .why = unavailable("connection lost: " + std::generic_category().message(errno))};
  }

  int socket_;
};

} // namespace

std::unique_ptr<wire> make_plain_wire(int socket) { return std::make_unique<plain_wire>(socket); }

} // namespace headrace::detail
