#include "headrace/pipeline/iterator/call_threads.hpp"

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

  // Begins among the idle ones.
  void work() {
    std::unique_lock lock{mutex};
    for (;;) {
      changed.wait(lock, [this] { return over || !waiting.empty(); });
      --idle;
      // What nobody has begun nobody waits for.
      if (over)
        return;
      auto call = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      call();
      call = nullptr; // what it owns may be the last to hold an operator's rows
      lock.lock();
      ++idle;
    }
  }
};

call_threads::call_threads() : shared_(std::make_shared<shared>()) {}

call_threads::~call_threads() {
  // What they own goes after the lock.
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
