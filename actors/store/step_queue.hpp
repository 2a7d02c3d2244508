#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>

namespace headrace::detail {

/// The steps that an actor takes, in order. Each step waits until all facts that were appended to a
/// store before the step was added are kept. The core continues to decide, and its facts are
/// appended at once: only the steps wait.
///
/// `take` is called with each step that is due. It may call functions of this queue: steps that it
/// adds are taken after the steps that already wait.
template <class Step>
class step_queue {
public:
  /// Called when facts were appended to a store. Steps that are added later wait until `kept` is
  /// called with the returned number, or a higher one.
  uint64_t store() { return ++stored_; }
  /// Takes the steps that are due because all facts up to `number` are kept.
  template <class Take>
  void kept(uint64_t number, Take&& take) {
    kept_ = std::max(kept_, number);
    go_on(take);
  }
  /// Adds a step behind all others.
  template <class Take>
  void add(Step step, Take&& take) {
    waiting_.push_back({std::move(step), stored_});
    go_on(take);
  }

private:
  struct entry {
    Step step;
    uint64_t after = 0; ///< the step is due when `kept` has been called with this number
  };

  template <class Take>
  void go_on(Take& take) {
    if (std::exchange(busy_, true))
      return;
    // If a step throws, its actor ends, so `busy_` may stay true.
    while (!waiting_.empty() && waiting_.front().after <= kept_) {
      auto step = std::move(waiting_.front().step);
      waiting_.pop_front();
      take(std::move(step));
    }
    busy_ = false;
  }

  std::deque<entry> waiting_;
  uint64_t stored_ = 0;
  uint64_t kept_ = 0;
  bool busy_ = false;
};

} // namespace headrace::detail
