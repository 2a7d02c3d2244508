#pragma once

#include "headrace/runtime/link/link_core.hpp"

#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <vector>

namespace headrace::detail {

/// One attempt to connect: it resolves the name, tries the addresses in turn, and starts a
/// `socket_link`, which performs the handshake.
class connector final : public loop_resident, public std::enable_shared_from_this<connector> {
public:
  connector(std::shared_ptr<link_core> core, std::shared_ptr<io_loop> loop, std::string host,
            uint16_t port, link_connected done);

  void start();
  void stop(const status& why) override { fail(why); }
  /// Ends the attempt with a failure, if it has not ended yet.
  void fail(const status& why);

private:
  void try_next(std::string why);
  void established();

  std::shared_ptr<link_core> core_;
  std::shared_ptr<io_loop> loop_;
  std::string host_;
  uint16_t port_;
  std::string address_;
  link_connected done_;
  asio::ip::tcp::resolver resolver_;
  std::vector<asio::ip::tcp::endpoint> untried_; // the last address is tried next
  asio::ip::tcp::socket socket_;
  asio::steady_timer timer_;
};

} // namespace headrace::detail
