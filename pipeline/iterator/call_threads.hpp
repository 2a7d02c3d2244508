#pragma once

#include <functional>
#include <memory>

namespace headrace::detail {

/// Threads for calls that may wait for something, or never return: of one operator, so that they
/// hold back no other. There are as many as there ever were calls at a time. Whoever has handed
/// calls over does not wait for them: they go on, each on its thread, when this is gone.
class call_threads {
public:
  call_threads();
  ~call_threads();
  call_threads(const call_threads&) = delete;
  call_threads& operator=(const call_threads&) = delete;

  /// Runs `call` on a thread that has none; makes one if there is none. False, and nobody runs it,
  /// where the system gives no more threads.
  bool run(std::function<void()> call);

private:
  struct shared;
  std::shared_ptr<shared> shared_;
};

} // namespace headrace::detail
