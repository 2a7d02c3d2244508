#pragma once

#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <fcntl.h>
#include <list>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace headrace::detail::test {

/// Forwards TCP connections from a port of its own to another port of the loopback, and disturbs
/// them as a test requires: it is the network between two processes.
class relay {
public:
  enum class direction {
    forward, ///< from the side that connected to the relay towards the target
    back,    ///< from the target to the side that connected
  };
  static constexpr uint64_t never = UINT64_MAX;

  /// If `target_port` is 0, new connections are closed until `forward_to` is called.
  explicit relay(uint16_t target_port = 0) : target_(target_port) {
    listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    auto at = loopback(0);
    socklen_t size = sizeof(at);
    if (listening_ < 0 || ::bind(listening_, reinterpret_cast<sockaddr*>(&at), size) != 0
        || ::listen(listening_, 16) != 0
        || ::getsockname(listening_, reinterpret_cast<sockaddr*>(&at), &size) != 0
        || ::pipe2(wake_, O_NONBLOCK | O_CLOEXEC) != 0)
      throw std::runtime_error{"relay: cannot listen"};
    port_ = ntohs(at.sin_port);
    thread_ = std::thread{[this] { run(); }};
  }
  relay(const relay&) = delete;
  relay& operator=(const relay&) = delete;
  ~relay() {
    stopping_ = true;
    wake();
    thread_.join();
    for (auto& x : pairs_) x.close();
    for (auto fd : {listening_, wake_[0], wake_[1]}) ::close(fd);
  }

  /// The port to which clients connect in place of the target's port.
  uint16_t port() const noexcept { return port_; }

  /// Forwards later connections to this port.
  void forward_to(uint16_t target_port) { target_ = target_port; }
  /// Blocks until `count` connections in total have been accepted. Returns false after `limit`.
  bool await_connections(size_t count, std::chrono::seconds limit) {
    std::unique_lock hold{mutex_};
    return accepted_.wait_for(hold, limit, [&] { return connections_ >= count; });
  }

  /// Lets exactly `n` more bytes through in that direction, counted over all connections, including
  /// those that begin meanwhile. Then cuts all connections; later ones are forwarded again.
  void cut_after(direction which, uint64_t n) {
    std::lock_guard hold{mutex_};
    budget_[static_cast<int>(which)] = n;
    wake();
  }
  /// Does the same as `cut_after` (`n` must be at least 1), but cuts one byte later if necessary,
  /// so that an odd number of bytes of the connection has passed. If the lengths of all frames are
  /// even, the cut is then inside a frame.
  void cut_inside(direction which, uint64_t n) {
    std::lock_guard hold{mutex_};
    budget_[static_cast<int>(which)] = n;
    odd_[static_cast<int>(which)] = true;
    wake();
  }
  /// Cuts every connection at once; new ones are forwarded again.
  void cut() {
    std::lock_guard hold{mutex_};
    cut_now_ = true;
    wake();
  }
  /// While true, nothing passes on any connection.
  void hold(bool on) {
    holding_ = on;
    wake();
  }
  /// From now on discards the bytes of the existing connections in that direction without closing
  /// them; later connections are forwarded again. A network behaves like this if its address
  /// translation has lost its entries.
  void swallow(direction which) {
    std::lock_guard hold{mutex_};
    swallow_now_[static_cast<int>(which)] = true;
    wake();
  }
  /// While true, discards the bytes of all connections in that direction, including later ones.
  void swallow_all(direction which, bool on) {
    swallowing_[static_cast<int>(which)] = on;
    wake();
  }
  /// Delays all bytes by this time, and lets at most 64 KiB through in each period of this length,
  /// on each connection and in each direction. With zero, bytes pass at once.
  void delay(std::chrono::milliseconds by) {
    delay_ = by;
    wake();
  }
  /// While true, connections are closed as soon as they are accepted.
  void refuse(bool on) { refusing_ = on; }
  /// The number of bytes let through in that direction so far.
  uint64_t forwarded(direction which) const { return forwarded_[static_cast<int>(which)]; }
  /// The number of connections accepted so far.
  size_t connections() const { return connections_; }
  /// The number of times that connections were cut.
  size_t cuts() const { return cuts_; }

private:
  struct pair {
    int fd[2];                 // the side that connected, the target
    std::vector<char> held[2]; // bytes read from fd[i], not yet written to fd[1 - i]
    bool ended[2] = {false, false};
    bool swallowed[2] = {false, false};
    uint64_t moved[2] = {0, 0};
    std::chrono::steady_clock::time_point came[2]{}; // when the held bytes arrived
    void close() {
      for (auto& x : fd) {
        ::shutdown(x, SHUT_RDWR);
        ::close(x);
      }
    }
  };

  static sockaddr_in loopback(uint16_t port) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    a.sin_port = htons(port);
    return a;
  }
  void wake() { [[maybe_unused]] auto n = ::write(wake_[1], "x", 1); }

  void accept() {
    auto from = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (from < 0)
      return;
    {
      std::lock_guard hold{mutex_};
      ++connections_;
    }
    accepted_.notify_all();
    auto to = refusing_ || target_ == 0 ? -1 : ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto at = loopback(target_);
    if (to < 0 || ::connect(to, reinterpret_cast<sockaddr*>(&at), sizeof(at)) != 0) {
      if (to >= 0)
        ::close(to);
      ::close(from);
      return;
    }
    for (auto x : {from, to}) {
      int on = 1;
      ::setsockopt(x, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      ::fcntl(x, F_SETFL, O_NONBLOCK);
    }
    pairs_.push_back({{from, to}, {}, {}, {}});
  }

  bool is_due(const pair& x, int i) const {
    return std::chrono::steady_clock::now() >= x.came[i] + delay_.load();
  }

  // Moves bytes from side i of the pair to the other side. False if the pair has ended.
  bool move(pair& x, int i) {
    if (holding_)
      return true;
    auto& held = x.held[i];
    if (held.empty() && !x.ended[i]) {
      held.resize(size_t{64} << 10);
      auto n = ::recv(x.fd[i], held.data(), held.size(), 0);
      if (n < 0 && errno != EAGAIN)
        return false;
      x.ended[i] = n == 0;
      held.resize(n > 0 ? static_cast<size_t>(n) : 0);
      x.came[i] = std::chrono::steady_clock::now();
      if (x.ended[i])
        ::shutdown(x.fd[1 - i], SHUT_WR);
      if (x.swallowed[i] || swallowing_[i])
        held.clear();
    }
    if (!held.empty() && is_due(x, i)) {
      std::lock_guard hold{mutex_};
      auto& budget = budget_[i];
      if (std::exchange(odd_[i], false) && (x.moved[i] + budget) % 2 == 0)
        ++budget;
      auto n =
        ::send(x.fd[1 - i], held.data(), std::min<uint64_t>(held.size(), budget), MSG_NOSIGNAL);
      if (n < 0 && errno != EAGAIN)
        return false;
      if (n > 0) {
        held.erase(held.begin(), held.begin() + n);
        x.moved[i] += static_cast<uint64_t>(n);
        forwarded_[i] += static_cast<uint64_t>(n);
        if (budget != never)
          budget -= static_cast<uint64_t>(n);
      }
      if (budget == 0) {
        budget = never;
        cut_now_ = true;
      }
    }
    return !(x.ended[0] && x.ended[1] && x.held[0].empty() && x.held[1].empty());
  }

  void run() {
    while (!stopping_) {
      std::vector<pollfd> fds{{wake_[0], POLLIN, 0}, {listening_, POLLIN, 0}};
      int patience = -1; // in milliseconds; set if bytes are delayed
      for (auto& x : pairs_)
        for (int i = 0; i < 2; ++i) {
          short events = x.held[i].empty() && !x.ended[i] ? POLLIN : 0;
          if (!x.held[1 - i].empty()) {
            if (is_due(x, 1 - i))
              events |= POLLOUT;
            else
              patience = 1;
          }
          fds.push_back({events != 0 && !holding_ ? x.fd[i] : -1, events, 0});
        }
      ::poll(fds.data(), fds.size(), patience);
      char ignored[64];
      while (::read(wake_[0], ignored, sizeof(ignored)) > 0) {
      }
      for (auto x = pairs_.begin(); x != pairs_.end();) {
        if (move(*x, 0) && move(*x, 1)) {
          ++x;
        } else {
          x->close();
          x = pairs_.erase(x);
        }
      }
      if (fds[1].revents != 0)
        accept();
      std::lock_guard hold{mutex_};
      for (int i = 0; i < 2; ++i)
        if (std::exchange(swallow_now_[i], false))
          for (auto& x : pairs_) x.swallowed[i] = true, x.held[i].clear();
      for (auto& budget : budget_)
        if (budget == 0 && !pairs_.empty()) {
          budget = never;
          cut_now_ = true;
        }
      if (std::exchange(cut_now_, false)) {
        for (auto& x : pairs_) x.close();
        pairs_.clear();
        ++cuts_;
      }
    }
  }

  std::atomic<uint16_t> target_;
  uint16_t port_ = 0;
  int listening_ = -1;
  int wake_[2] = {-1, -1};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> refusing_{false};
  std::atomic<bool> holding_{false};
  std::atomic<bool> swallowing_[2] = {false, false};
  std::atomic<std::chrono::milliseconds> delay_{std::chrono::milliseconds{0}};
  std::atomic<size_t> connections_{0};
  std::atomic<size_t> cuts_{0};
  std::atomic<uint64_t> forwarded_[2] = {0, 0};
  std::list<pair> pairs_; // used only by the thread
  std::mutex mutex_;
  std::condition_variable accepted_;
  uint64_t budget_[2] = {never, never};
  bool odd_[2] = {false, false};
  bool swallow_now_[2] = {false, false};
  bool cut_now_ = false;
  std::thread thread_; // last: it uses all of the above
};

} // namespace headrace::detail::test
