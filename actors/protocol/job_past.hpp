#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headrace {

/// Which repetitions of a job are over: what is kept of a named job that has ended.
struct job_past {
  /// How many repetitions are listed one by one, of either kind. Where there would be more, those
  /// that come first in the list count as having ended well, with all before them.
  static constexpr size_t most_listed = 64;

  uint64_t below = 0;           ///< all that come before this one
  std::vector<uint64_t> also;   ///< others that ended well, ascending
  std::vector<uint64_t> failed; ///< those that failed, wherever they are, ascending

  bool empty() const noexcept { return below == 0 && also.empty() && failed.empty(); }
  bool has_failed(uint64_t repetition) const {
    return std::ranges::binary_search(failed, repetition);
  }
  /// It is over, one way or the other.
  bool covers(uint64_t repetition) const {
    return repetition < below || std::ranges::binary_search(also, repetition)
           || has_failed(repetition);
  }
  /// Keeps no more than `most_listed` of either kind.
  void bound() {
    while (also.size() > most_listed || failed.size() > most_listed) {
      auto& from = also.size() > most_listed ? also : failed;
      below = std::max(below, from.front() + 1);
      from.erase(from.begin());
      std::erase_if(also, [&](uint64_t x) { return x < below; });
    }
  }
  friend bool operator==(const job_past&, const job_past&) = default;
};

} // namespace headrace
