#pragma once

#include <algorithm>
#include <cstddef>

namespace headrace::detail {

/// The capacity of a buffer whose capacity was not set. It is small at first, and is doubled when
/// the buffer is empty, provided that the buffer has been full since the last growth. A buffer that
/// is never empty is large enough, and a buffer that is never full would not profit from more room.
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
