#include "headrace/runtime/link/task_thread.hpp"

#include <utility>

namespace headrace::detail {

task_thread::task_thread() : thread_([this] { run(); }) {}

task_thread::~task_thread() { end(); }

bool task_thread::post(std::function<void()> task) {
  std::lock_guard hold{mutex_};
  // Functions that run while the thread is ending may still post others.
  if (ending_ && std::this_thread::get_id() != thread_.get_id())
    return false;
  tasks_.push_back(std::move(task));
  wake_.notify_one();
  return true;
}

void task_thread::end() {
  {
    std::lock_guard hold{mutex_};
    ending_ = true;
    wake_.notify_one();
  }
  if (thread_.joinable())
    thread_.join();
}

void task_thread::run() {
  std::unique_lock hold{mutex_};
  for (;;) {
    wake_.wait(hold, [this] { return ending_ || !tasks_.empty(); });
    if (tasks_.empty())
      return;
    auto tasks = std::move(tasks_);
    tasks_.clear();
    hold.unlock();
    for (auto& task : tasks) std::exchange(task, nullptr)();
    hold.lock();
  }
}

} // namespace headrace::detail
