#include "headrace/pipeline/engine/call_threads.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

namespace headrace::detail {

struct call_threads::shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> waiting;
  size_t idle = 0;
  bool over = false;

  // The function of a thread. A new thread begins as an idle one.
  void work() {
    std::unique_lock lock{mutex};
    for (;;) {
      changed.wait(lock, [this] { return over || !waiting.empty(); });
      --idle;
      // Calls that have not begun are dropped.
      if (over)
        return;
      auto call = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      call();
      call = nullptr; // the call may hold the last reference to an operator's rows
      lock.lock();
      ++idle;
    }
  }
};

call_threads::call_threads() : shared_(std::make_shared<shared>()) {}

call_threads::~call_threads() {
  // The calls are destroyed after the lock is released.
  std::deque<std::function<void()>> waiting;
  std::lock_guard lock{shared_->mutex};
  shared_->over = true;
  waiting.swap(shared_->waiting);
  shared_->changed.notify_all();
}

bool call_threads::run(std::function<void()> call) {
  std::lock_guard lock{shared_->mutex};
  shared_->waiting.push_back(std::move(call));
  if (shared_->idle >= shared_->waiting.size()) {
    shared_->changed.notify_one();
    return true;
  }
  try {
    std::thread{[s = shared_] { s->work(); }}.detach();
  } catch (const std::system_error&) {
    shared_->waiting.pop_back();
    return false;
  }
  ++shared_->idle;
  return true;
}

} // namespace headrace::detail
