#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headrace::detail {

/// The repetitions of a job that are finished. Nothing else is kept of a named job that has ended.
struct job_past {
  /// The most repetitions in each list. If there are more, the first ones are removed from the
  /// list: they, and all earlier repetitions that are not in `failed`, then count as successes.
  static constexpr size_t most_listed = 64;

  uint64_t below = 0;         ///< all repetitions before this one are finished
  std::vector<uint64_t> also; ///< other repetitions that succeeded, in ascending order
  /// Repetitions that failed, also those before `below`, in ascending order.
  std::vector<uint64_t> failed;

  bool empty() const noexcept { return below == 0 && also.empty() && failed.empty(); }
  bool has_failed(uint64_t repetition) const {
    return std::ranges::binary_search(failed, repetition);
  }
  /// True if the repetition is finished, whether it succeeded or failed.
  bool covers(uint64_t repetition) const {
    return repetition < below || std::ranges::binary_search(also, repetition)
           || has_failed(repetition);
  }
  /// Shortens both lists to `most_listed`.
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

} // namespace headrace::detail
