#pragma once

#include "headrace/runtime/link/frames/frame.hpp"
#include "headrace/runtime/link/frames/hello.hpp"
#include "headrace/runtime/link/link_service.hpp"

#include <condition_variable>
#include <deque>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <optional>
#include <random>
#include <string>

namespace headrace::detail::test {

/// The longest time for which a test waits for something that must happen.
inline constexpr auto patience = std::chrono::seconds{20};

/// One side of a link for a test: records its events, and waits for them.
class link_end {
public:
  link_end() = default;
  explicit link_end(std::shared_ptr<headrace::detail::link> x) { attach(std::move(x)); }
  link_end(const link_end&) = delete;
  ~link_end() {
    if (link)
      link->set_handlers({});
  }

  void attach(std::shared_ptr<headrace::detail::link> x) {
    link = std::move(x);
    auto log = log_;
    link->set_handlers({.on_message =
                          [log](link_message m) {
                            std::lock_guard hold{log->mutex};
                            log->messages.push_back(std::move(m));
                            log->changed.notify_all();
                          },
                        .on_closed =
                          [log](const status& why) {
                            std::lock_guard hold{log->mutex};
                            log->closed.push_back(why);
                            log->changed.notify_all();
                          },
                        .on_drained =
                          [log] {
                            std::lock_guard hold{log->mutex};
                            ++log->drained;
                            log->changed.notify_all();
                          }});
  }

  /// The next message; nullopt if the link ends, or `patience` passes, before a message arrives.
  std::optional<link_message> next() {
    std::unique_lock hold{log_->mutex};
    log_->changed.wait_for(hold, patience,
                           [&] { return !log_->messages.empty() || !log_->closed.empty(); });
    if (log_->messages.empty())
      return std::nullopt;
    auto out = std::move(log_->messages.front());
    log_->messages.pop_front();
    return out;
  }
  /// The reason for the end of the link; ok if the link does not end within `patience`.
  status closed() {
    std::unique_lock hold{log_->mutex};
    log_->changed.wait_for(hold, patience, [&] { return !log_->closed.empty(); });
    return log_->closed.empty() ? status{} : log_->closed.front();
  }
  /// True if the link ends within that time.
  bool closed_within(duration limit) {
    std::unique_lock hold{log_->mutex};
    return log_->changed.wait_for(hold, limit, [&] { return !log_->closed.empty(); });
  }
  size_t times_closed() {
    std::lock_guard hold{log_->mutex};
    return log_->closed.size();
  }
  bool drained() {
    std::unique_lock hold{log_->mutex};
    return log_->changed.wait_for(hold, patience, [&] { return log_->drained > 0; });
  }

  std::shared_ptr<headrace::detail::link> link;

private:
  struct record {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<link_message> messages;
    std::vector<status> closed;
    int drained = 0;
  };
  std::shared_ptr<record> log_ = std::make_shared<record>();
};

/// A queue of objects that another thread adds.
template <class T>
class mailbox {
public:
  void put(T x) {
    std::lock_guard hold{mutex_};
    items_.push_back(std::move(x));
    changed_.notify_all();
  }
  std::optional<T> take() {
    std::unique_lock hold{mutex_};
    if (!changed_.wait_for(hold, patience, [&] { return !items_.empty(); }))
      return std::nullopt;
    auto out = std::move(items_.front());
    items_.pop_front();
    return out;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> items_;
};

/// A service that listens on a free port of the loopback and records the links that it accepts and
/// refuses.
struct host {
  explicit host(link_options options = {})
    : service([&] {
        options.on_refused = [this](const std::string&, const status& why) { refused.put(why); };
        return options;
      }()) {
    auto bound = service.listen("127.0.0.1", 0,
                                [this](std::shared_ptr<link> x) { accepted.put(std::move(x)); });
    EXPECT_TRUE(bound.ok()) << to_string(bound.status());
    port = bound.ok() ? *bound : 0;
  }
  mailbox<std::shared_ptr<link>> accepted;
  mailbox<status> refused;
  link_service service;
  uint16_t port = 0;
};

/// Connects and waits for the outcome.
inline result<std::shared_ptr<link>> connect(link_service& from, uint16_t port,
                                             const std::string& to = "127.0.0.1") {
  auto box = std::make_shared<mailbox<result<std::shared_ptr<link>>>>();
  from.connect(to, port, [box](result<std::shared_ptr<link>> x) { box->put(std::move(x)); });
  auto out = box->take();
  return out ? *std::move(out) : deadline_exceeded("connect never ended");
}

/// A message with a header of `words` words and segments of the given sizes, filled with random
/// values.
inline link_message sample(uint64_t seed, size_t words, const std::vector<size_t>& sizes,
                           uint32_t channel = 0) {
  std::mt19937_64 random{seed};
  auto fill = [&](size_t n) {
    mutable_buffer b{n};
    auto xs = b.as<std::byte>();
    for (size_t i = 0; i < n; i += 8) {
      auto x = random();
      std::memcpy(xs.data() + i, &x, std::min<size_t>(8, n - i));
    }
    return std::move(b).freeze();
  };
  link_message m{.channel = channel, .header = fill(8 * words), .payload = {}};
  for (auto n : sizes) m.payload.push_back(fill(n));
  return m;
}

inline ::testing::AssertionResult same_bytes(const buffer& a, const buffer& b) {
  if (a.size() != b.size())
    return ::testing::AssertionFailure() << "sizes " << a.size() << " and " << b.size();
  if (a.size() != 0 && std::memcmp(a.data(), b.data(), a.size()) != 0)
    return ::testing::AssertionFailure() << "bytes differ";
  return ::testing::AssertionSuccess();
}

inline ::testing::AssertionResult same(const link_message& a, const link_message& b) {
  if (a.channel != b.channel || a.payload.size() != b.payload.size())
    return ::testing::AssertionFailure()
           << "channels " << a.channel << " and " << b.channel << ", segments " << a.payload.size()
           << " and " << b.payload.size();
  if (auto r = same_bytes(a.header, b.header); !r)
    return r << " in the header";
  for (size_t i = 0; i < a.payload.size(); ++i)
    if (auto r = same_bytes(a.payload[i], b.payload[i]); !r)
      return r << " in segment " << i;
  return ::testing::AssertionSuccess();
}

} // namespace headrace::detail::test
