#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace headrace {

/// Numbers the iterations over what a `distribute` reads: the n-th asks for repetition n of its
/// job. In a function it reads as many datasets as the function makes, each counted by itself, as
/// each has a job of its own. Thread-safe.
class service_iterations {
public:
  /// How many datasets are counted.
  static constexpr size_t most = size_t{1} << 20;

  /// Counts one over the dataset of this fingerprint, or id: from 0. Nullopt: it would be one too
  /// many.
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
