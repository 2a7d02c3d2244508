#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace headrace {

/// Numbers the iterations over a `distribute` node: the n-th one reads repetition n of the node's
/// job. Inside a function the node reads as many datasets as the function makes; each has a job of
/// its own, whose iterations are counted separately. Thread-safe.
class service_iterations {
public:
  /// The most datasets whose iterations are counted.
  static constexpr size_t most = size_t{1} << 20;

  /// The number of the next iteration, from 0, over the dataset with this fingerprint or id.
  /// Nullopt: there are too many datasets.
  std::optional<uint64_t> next(const std::string& dataset) {
    std::lock_guard lock{mutex_};
    const auto at = counts_.find(dataset);
    if (at != counts_.end())
      return at->second++;
    if (counts_.size() == most)
      return std::nullopt;
    counts_.emplace(dataset, 1);
    return 0;
  }

private:
  std::mutex mutex_;
  std::map<std::string, uint64_t> counts_;
};

} // namespace headrace
