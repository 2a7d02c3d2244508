#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>

namespace headrace {

/// Steps that an actor takes in order, each when all that was stored before it is kept. The core
/// goes on deciding meanwhile, and what it decides is stored at once: only what others would see of
/// it waits.
///
/// `take` is called with the steps that are due. It may come back here: what it adds is taken after
/// what waits already.
template <class Step>
class step_queue {
public:
  /// Facts are stored now: steps from here on wait until `kept` is called with this number, or a
  /// higher one.
  uint64_t store() { return ++stored_; }
  /// All is kept that was stored up to that number.
  template <class Take>
  void kept(uint64_t number, Take&& take) {
    kept_ = std::max(kept_, number);
    go_on(take);
  }
  /// A step after all that were added before.
  template <class Take>
  void add(Step step, Take&& take) {
    waiting_.push_back({std::move(step), stored_});
    go_on(take);
  }

private:
  struct entry {
    Step step;
    uint64_t after = 0; ///< what must be kept
  };

  template <class Take>
  void go_on(Take& take) {
    if (std::exchange(busy_, true))
      return;
    // An actor that throws in a step has ended.
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

} // namespace headrace
