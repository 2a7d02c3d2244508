#pragma once

#include <cstdint>
#include <deque>
#include <utility>

namespace headrace {

/// Steps that an actor takes in order, each after what was stored before it is kept. The core goes
/// on deciding meanwhile: only what others would see of its decisions waits.
///
/// Each function is given `take`, which is called with the steps that are due. `take` may come back
/// here: what it adds is taken after what waits already.
template <class Step>
class step_queue {
public:
  /// Steps to be taken after all that were added before.
  template <class Steps, class Take>
  void add(Steps&& steps, Take&& take) {
    for (auto& step : steps) waiting_.emplace_back(std::move(step));
    go_on(take);
  }
  template <class Take>
  void add_one(Step step, Take&& take) {
    waiting_.push_back(std::move(step));
    go_on(take);
  }
  /// Called by a step: those after it wait until `kept` is called with the number that this gives.
  uint64_t wait() { return waits_for_ = ++last_; }
  /// What that step waited for has come to pass. Other numbers change nothing.
  template <class Take>
  void kept(uint64_t number, Take&& take) {
    if (number != waits_for_ || number == 0)
      return;
    waits_for_ = 0;
    go_on(take);
  }
  /// Is a step waited for?
  bool waits() const noexcept { return waits_for_ != 0; }

private:
  template <class Take>
  void go_on(Take& take) {
    if (std::exchange(busy_, true))
      return;
    // An actor that throws in a step has ended.
    while (waits_for_ == 0 && !waiting_.empty()) {
      auto step = std::move(waiting_.front());
      waiting_.pop_front();
      take(std::move(step));
    }
    busy_ = false;
  }

  std::deque<Step> waiting_;
  uint64_t waits_for_ = 0;
  uint64_t last_ = 0;
  bool busy_ = false;
};

} // namespace headrace
