#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace headrace {

/// A thread that runs functions in order. It is ended by its owner, or by itself if the owner does
/// not.
class task_thread {
public:
  task_thread();
  ~task_thread();

  /// False if it has ended; then nothing happens.
  bool post(std::function<void()> task);
  /// Runs the queued functions, then joins. To be called from another thread.
  void end();

private:
  void run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool ending_ = false;
  std::thread thread_;
};

} // namespace headrace
