#pragma once

#include <functional>
#include <memory>

namespace headrace::detail {

/// Threads for calls that may block or may never return. Each operator has threads of its own, so
/// that it delays no other operator. A thread is added when no thread is idle, and none is removed.
/// The destructor does not wait for calls: they continue, each on its thread.
class call_threads {
public:
  call_threads();
  ~call_threads();
  call_threads(const call_threads&) = delete;
  call_threads& operator=(const call_threads&) = delete;

  /// Runs `call` on an idle thread, or on a new one if there is none. False: the system could not
  /// start a thread, and `call` is not run.
  bool run(std::function<void()> call);

private:
  struct shared;
  std::shared_ptr<shared> shared_;
};

} // namespace headrace::detail
