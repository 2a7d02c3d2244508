#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace headrace {

/// A thread that does what it is given, in order. Ended by its owner; ends itself if nobody did.
class task_thread {
public:
  task_thread();
  ~task_thread();

  /// False, and nothing happens, once it has ended.
  bool post(std::function<void()> task);
  /// Does what is queued, then joins. From another thread.
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
