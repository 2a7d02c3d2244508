#pragma once

#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/link/link_core.hpp"

#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <string>
#include <vector>

namespace headrace::detail {

/// Accepts connections on one address and hands each to one of the loops.
class listener final : public loop_resident, public std::enable_shared_from_this<listener> {
public:
  /// The listener runs on the first of `loops`.
  listener(std::shared_ptr<link_core> core, std::vector<std::shared_ptr<io_loop>> loops,
           link_accepted on_accepted);

  /// Binds the socket, and returns the port. To be called on any thread, before `start`.
  result<uint16_t> open(const std::string& host, uint16_t port);
  void start();
  void stop(const status& why) override;

private:
  void accept();
  void take();
  void rest(const std::string& why);
  void welcome(int fd);

  std::shared_ptr<link_core> core_;
  std::vector<std::shared_ptr<io_loop>> loops_;
  link_accepted on_accepted_;
  asio::ip::tcp::acceptor acceptor_;
  asio::ip::tcp protocol_ = asio::ip::tcp::v4();
  asio::steady_timer pause_;
  size_t next_ = 0;
  bool resting_ = false; // the listener has paused since the last connection that it accepted
  bool stopped_ = false;
};

/// The address as `host:port`, with IPv6 in brackets.
std::string to_address(const asio::ip::tcp::endpoint& x);
std::string to_address(const std::string& host, uint16_t port);

} // namespace headrace::detail
