#pragma once

#include "headrace/runtime/link/frames/frame_reader.hpp"
#include "headrace/runtime/link/frames/frame_writer.hpp"
#include "headrace/runtime/link/frames/hello.hpp"
#include "headrace/runtime/link/link_core.hpp"
#include "headrace/runtime/link/link_liveness.hpp"
#include "headrace/runtime/link/wire/wire.hpp"

#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <mutex>
#include <optional>

namespace headrace::detail {

/// A link over a connected socket: the handshake, and then messages in both directions.
class socket_link final : public link,
                          public loop_resident,
                          public std::enable_shared_from_this<socket_link> {
public:
  /// The end of the link that opened the connection, and the other end.
  enum class side { connecting, accepting };

  /// `ready` is called with the outcome of the handshake.
  socket_link(std::shared_ptr<link_core> core, std::shared_ptr<io_loop> loop,
              asio::ip::tcp::socket socket, side which, std::string peer_address,
              link_connected ready);

  // -- on the loop's thread ----------------------------------------------------

  /// Begins the handshake.
  void start();
  /// For an accepted connection, before `start`, on any thread: adds the connection to the
  /// `greeting_crowd`, which may drop it.
  void enter_crowd();
  void stop(const status& why) override { finish(why); }

  // -- link ----------------------------------------------------------------------

  bool send(link_message message) override;
  const link_limits& limits() const noexcept override { return core_->options.limits; }
  size_t queued_bytes() const override { return queued_.load(std::memory_order_relaxed); }
  void close(status why) override;
  void set_handlers(link_handlers handlers) override;
  const std::string& peer_address() const override { return peer_address_; }
  uint64_t peer_node() const override { return peer_.node_id; }
  const std::string& peer_boot_id() const override { return peer_.boot_id; }
  const std::string& peer_role() const override { return peer_.role; }

private:
  enum class phase { handshake, greeting, open, closed };
  // After this number of bytes in one direction, other links are served.
  static constexpr size_t turn_bytes = size_t{4} << 20;

  void handshake();
  void greet();
  void make_room();
  void receive();
  bool deliver();
  void meet(const link_message& hello);
  enum class progress { idle, again, want_read, want_write, lost };
  struct write_outcome {
    progress state = progress::idle;
    bool messages = false; // with `idle`: messages of `send` were written, not only a ping
    wire_result how = {};
  };
  write_outcome write_some(size_t budget);
  void go_on(const write_outcome& left);
  void pump();
  void account(size_t bytes);
  void wait(asio::ip::tcp::socket::wait_type what, void (socket_link::*then)());
  void begin(link_handlers handlers);
  void keep_watch();
  void look();
  void ping();
  void lost(const wire_result& how);
  void refuse(refusal cause, const status& why);
  void finish(const status& why);

  const std::shared_ptr<link_core> core_;
  const std::shared_ptr<io_loop> loop_;
  const side side_;
  const std::string peer_address_;

  greeting_crowd::ticket ticket_ = 0; // 0: the connection is not in the crowd

  // The following members are used by the loop's thread only.
  asio::ip::tcp::socket socket_;
  asio::steady_timer timer_;
  frame_reader reader_;
  phase phase_ = phase::handshake;
  link_connected ready_;
  link_hello peer_;                    // written before other threads use the link
  std::optional<silence_watch> watch_; // set on an open link whose peer accepts pings
  std::optional<link_handlers> handlers_;
  status closed_why_;
  bool linger_ = false; // the socket stays open for a short time, see `lingering`

  // Only the loop's thread uses the wire, with one exception: a plain wire can be read and written
  // at the same time, and threads that call `send` write to it themselves (see `direct_`).
  std::unique_ptr<wire> wire_;
  // A thread locks this mutex while it writes, and must not lock it while it holds `mutex_`.
  std::mutex write_mutex_;
  frame_writer writer_;

  // The following members are used by all threads.
  std::atomic<bool> direct_{false}; // the thread that calls `send` may write to the socket
  std::atomic<size_t> queued_{0};
  std::mutex mutex_;
  std::vector<link_message> inbox_;
  bool scheduled_ = false; // a thread writes, and will check the inbox again
  bool closed_ = false;
};

} // namespace headrace::detail
