#pragma once

#include "headrace/pipeline/iterator/ports.hpp"

#include <cstdint>
#include <map>

namespace headrace {

/// A set of indices as disjoint ranges, neighbours joined: memory grows with the number of gaps,
/// not of indices.
class index_ranges {
public:
  /// @pre disjoint from what is in it
  void add(split_range r);
  /// Takes at most `most` indices from the lowest range. Empty range if there is none.
  split_range take(uint64_t most);
  /// Removes everything at and above `end`; returns how many.
  uint64_t truncate(uint64_t end);
  uint64_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  size_t ranges() const noexcept { return by_first_.size(); }
  friend bool operator==(const index_ranges&, const index_ranges&) = default;

private:
  std::map<uint64_t, uint64_t> by_first_; ///< first -> count
  uint64_t size_ = 0;
};

} // namespace headrace
