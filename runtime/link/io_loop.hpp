#pragma once

#include "headrace/runtime/base/status.hpp"

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

namespace headrace::detail {

/// An object that belongs to an I/O loop and must end before the loop.
class loop_resident {
public:
  virtual ~loop_resident() = default;
  /// Called on the loop's thread. Cancels all pending operations.
  virtual void stop(const status& why) = 0;
};

/// A thread that waits for events of sockets. Only this thread uses the set of residents.
class io_loop {
public:
  io_loop() : guard_(context_.get_executor()) {
    thread_ = std::thread{[this] { context_.run(); }};
  }

  asio::io_context& context() noexcept { return context_; }
  /// Runs `f` on the thread. False: the loop has ended, and `f` is not run.
  template <class F>
  bool post(F&& f) {
    std::lock_guard hold{mutex_};
    if (ended_)
      return false;
    asio::post(context_, std::forward<F>(f));
    return true;
  }
  /// Adds a resident. To be called on the thread. False: the loop is ending, and the resident must
  /// not begin its work.
  bool add(std::shared_ptr<loop_resident> x) {
    return !ending_ && residents_.insert(std::move(x)).second;
  }
  void remove(const std::shared_ptr<loop_resident>& x) { residents_.erase(x); }

  /// Stops all residents and joins the thread. To be called once, from another thread.
  void end() {
    post([this] {
      ending_ = true;
      for (auto all = std::move(residents_); const auto& x : all)
        x->stop(cancelled("the link service has stopped"));
      std::lock_guard hold{mutex_};
      ended_ = true;
      guard_.reset();
    });
    thread_.join();
  }

private:
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard_;
  std::thread thread_;
  std::set<std::shared_ptr<loop_resident>> residents_;
  bool ending_ = false;
  std::mutex mutex_;
  bool ended_ = false;
};

} // namespace headrace::detail
