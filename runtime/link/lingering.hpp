#pragma once

#include "headrace/runtime/link/link_core.hpp"

#include <array>
#include <asio/buffer.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>

namespace headrace::detail {

/// Closes a refused connection. If a connection is closed while bytes of the peer are unread, the
/// last bytes that were sent to the peer (a TLS alert, the hello) do not arrive. So the bytes of
/// the peer are read and dropped, for a bounded time.
class lingering final : public loop_resident, public std::enable_shared_from_this<lingering> {
public:
  lingering(std::shared_ptr<link_core> core, std::shared_ptr<io_loop> loop,
            asio::ip::tcp::socket socket, greeting_crowd::ticket ticket)
    : core_(std::move(core)),
      loop_(std::move(loop)),
      socket_(std::move(socket)),
      timer_(loop_->context()),
      ticket_(ticket) {}

  void start() {
    if (!loop_->add(shared_from_this()))
      return stop({});
    core_->greeting.replace(ticket_, [weak = weak_from_this(), loop = loop_] {
      loop->post([weak] {
        if (auto self = weak.lock())
          self->stop({});
      });
    });
    asio::error_code ignored;
    socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    timer_.expires_after(std::chrono::milliseconds{500});
    timer_.async_wait([self = shared_from_this()](const asio::error_code& error) {
      if (!error)
        self->stop({});
    });
    read();
  }
  void stop(const status&) override {
    asio::error_code ignored;
    socket_.close(ignored);
    timer_.cancel();
    core_->greeting.leave(ticket_);
    loop_->remove(shared_from_this());
  }

private:
  static constexpr size_t most = size_t{1} << 20;

  void read() {
    socket_.async_read_some(asio::buffer(dropped_),
                            [self = shared_from_this()](const asio::error_code& error, size_t n) {
                              self->sum_ += n;
                              if (error || self->sum_ > most)
                                return self->stop({});
                              self->read();
                            });
  }

  std::shared_ptr<link_core> core_;
  std::shared_ptr<io_loop> loop_;
  asio::ip::tcp::socket socket_;
  asio::steady_timer timer_;
  std::array<char, 4096> dropped_;
  greeting_crowd::ticket ticket_;
  size_t sum_ = 0;
};

} // namespace headrace::detail
