#pragma once

#include <algorithm>
#include <cstddef>

namespace headrace::detail {

/// How much a buffer may hold, where that is not said: little at first, and twice as much each time
/// it ran empty although it had been full since it last grew. A buffer that never runs empty is
/// large enough, and one that never fills would not be helped by more room.
class growing_bound {
public:
  growing_bound(size_t first, size_t most) : now_(std::min(first, most)), most_(most) {}
  size_t now() const noexcept { return now_; }
  void was_full() noexcept { full_ = true; }
  void ran_empty() noexcept {
    if (!full_)
      return;
    full_ = false;
    now_ = std::min(most_, now_ * 2);
  }

private:
  size_t now_, most_;
  bool full_ = false;
};

} // namespace headrace::detail
