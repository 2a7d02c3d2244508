#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace headrace::detail {

/// A thread that runs functions in order, until its owner calls `end` or destroys this object.
class task_thread {
public:
  task_thread();
  ~task_thread();

  /// Queues a function. False: `end` was called, and the caller is not a queued function; then
  /// nothing happens.
  bool post(std::function<void()> task);
  /// Runs the queued functions, and then joins. To be called from another thread.
  void end();

private:
  void run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool ending_ = false;
  std::thread thread_;
};

} // namespace headrace::detail
