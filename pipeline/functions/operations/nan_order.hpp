#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace headrace::detail {

/// Orders places (indices of values) whose values include NaN in the same way as TensorFlow's
/// kernel of `top_k`, which TensorFlow also uses to sort. NaN is neither before nor after any
/// value, so the order depends on the algorithm. Like the kernel, this class orders all places by a
/// sort, and then sorts each run of equal values by place. If only some of the places are needed,
/// the class finds these with a heap, and a single place by a search. `before(i, j)`: the value of
/// place `i` is before the value of place `j`; `before.equal(i, j)`: the two values are equal.
template <class Before>
class nan_order {
public:
  nan_order(std::vector<int32_t>& places, Before before) : places_(places), before_(before) {}

  /// Puts the first `kept` places of the order to the front of `places`.
  void sort(size_t kept) {
    std::iota(places_.begin(), places_.end(), 0);
    if (kept == 1)
      places_[0] = first();
    else if (kept == places_.size())
      sort_all();
    else if (kept > 1)
      sort_some(kept);
  }

private:
  bool equal(int32_t i, int32_t j) const { return before_.equal(i, j); }

  /// The first place of the order. A value replaces the value found so far unless the found value
  /// is before it. So NaN replaces any value, and the value after a NaN replaces the NaN.
  int32_t first() const {
    int32_t found = 0;
    for (int32_t i = 1; i < static_cast<int32_t>(places_.size()); ++i)
      if (!before_(found, i))
        found = i;
    // The result is the first place with a value equal to the found one; 0 if the found value is
    // NaN, to which no value is equal.
    for (int32_t i = 0; i < found; ++i)
      if (equal(i, found))
        return i;
    return equal(found, found) ? found : 0;
  }

  void sort_all() {
    std::sort(places_.begin(), places_.end(), before_);
    for (auto run = places_.begin(); run != places_.end();) {
      auto end = run + 1;
      while (end != places_.end() && equal(*run, *end)) ++end;
      std::sort(run, end);
      run = end;
    }
  }

  void sort_some(size_t kept) {
    const auto comes_first = [this](int32_t i, int32_t j) {
      return before_(i, j) || (!before_(j, i) && i < j);
    };
    // A heap of the places found so far. The last of these in the order is at the top, and is
    // removed next. At first the heap has one place more than are kept.
    const auto begin = places_.begin(), end = begin + static_cast<std::ptrdiff_t>(kept);
    std::make_heap(begin, end + 1, comes_first);
    std::pop_heap(begin, end + 1, comes_first);
    for (auto i = static_cast<int32_t>(kept) + 1; i < static_cast<int32_t>(places_.size()); ++i)
      if (comes_first(i, *begin)) {
        std::pop_heap(begin, end, comes_first);
        *(end - 1) = i;
        std::push_heap(begin, end, comes_first);
      }
    std::sort_heap(begin, end, comes_first);
  }

  std::vector<int32_t>& places_;
  Before before_;
};

} // namespace headrace::detail
