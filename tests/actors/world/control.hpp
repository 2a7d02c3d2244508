#pragma once

#include "tests/actors/world/virtual_network.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace headrace::detail::test {

/// Answers a request: `at_asker` is called in the process that sent the request.
using replier = std::function<void(std::function<void()> at_asker)>;

/// Sends a request over a connection. `at_other` is called at the other end and may answer, at once
/// or later. If no answer arrives within `limit`, `late` is called at the sender, and an answer
/// that arrives after that does not count.
inline void request(const connection_end& over, duration limit,
                    std::function<void(replier)> at_other, std::function<void()> late) {
  auto open = std::make_shared<bool>(true);
  auto& asker = *over.over->ends[over.side].who;
  asker.after(limit, [open, late = std::move(late)] {
    if (std::exchange(*open, false))
      late();
  });
  const connection_end back{over.over, 1 - over.side};
  auto& net = *over.over->network;
  net.send(over, [&net, back, open, at_other = std::move(at_other)] {
    at_other([&net, back, open](std::function<void()> at_asker) {
      net.send(back, [open, at_asker = std::move(at_asker)] {
        if (std::exchange(*open, false))
          at_asker();
      });
    });
  });
}

/// Keeps a member's connection to the dispatcher. Like headrace::detail::peer, it connects, watches
/// the connection, and connects again when the connection is lost.
class control_peer {
public:
  struct events {
    std::function<void()> up;
    std::function<void(const status&)> down;
    std::function<void(const status&)> failed;
  };
  control_peer(virtual_network& net, virtual_process& from, virtual_process& to,
               std::function<void(connection_end)> accepted, events hear)
    : net_(net), from_(from), to_(to), accepted_(std::move(accepted)), hear_(std::move(hear)) {
    connect();
  }

  const connection_end& get() const noexcept { return over_; }
  bool up() const noexcept { return static_cast<bool>(over_); }
  /// Closes the connection. As after each loss, another connection is then made.
  void renew(const status& why) {
    if (over_)
      net_.close(over_, why);
  }

private:
  void connect() {
    net_.connect(plane::control, from_, to_, accepted_, [this](result<connection_end> made) {
      if (!made) {
        from_.after(pause_, [this] { connect(); });
        pause_ = std::min<duration>(2 * pause_, std::chrono::milliseconds{500});
        return hear_.failed(made.status());
      }
      over_ = *made;
      up_since_ = from_.now();
      over_.over->ends[0].on_closed = [this](const status& why) { lost(why); };
      hear_.up();
    });
  }
  void lost(const status& why) {
    over_ = {};
    if (from_.now() - up_since_ > std::chrono::seconds{1})
      pause_ = std::chrono::milliseconds{50};
    hear_.down(why);
    from_.after(pause_, [this] { connect(); });
    pause_ = std::min<duration>(2 * pause_, std::chrono::milliseconds{500});
  }

  virtual_network& net_;
  virtual_process& from_;
  virtual_process& to_;
  std::function<void(connection_end)> accepted_;
  events hear_;
  connection_end over_;
  time_point up_since_{};
  duration pause_ = std::chrono::milliseconds{50};
};

} // namespace headrace::detail::test
