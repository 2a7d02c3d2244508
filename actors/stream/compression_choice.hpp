#pragma once

#include "headrace/pipeline/types/compression.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace headrace::detail {

/// Decides for one stream which of its blocks are compressed. Under `automatic` no block is
/// compressed if both ends are on one host; otherwise blocks are compressed as long as the last
/// sample compressed well. Pure.
class compression_choice {
public:
  /// Under `automatic`, smaller blocks are not compressed: they take few network packets anyway.
  static constexpr size_t smallest_block = 4096;
  /// Blocks are compressed if a sample shrinks to this share of its size or less. If it shrinks
  /// less, the processor time is better used to make elements.
  static constexpr double paying_share = 0.75;
  /// The number of bytes of blocks between two samples: at first, and the most to which the number
  /// grows while samples compress badly.
  static constexpr uint64_t first_distance = uint64_t{16} << 20;
  static constexpr uint64_t longest_distance = uint64_t{1} << 30;

  compression_choice() = default;
  compression_choice(compression asked, bool same_host)
    : asked_(asked == compression::automatic && same_host ? compression::none : asked) {}

  /// True if the next block, of `bytes` bytes, is to be compressed. `sample` returns the share of
  /// its size to which a sample of this block shrinks; it is called only if it is needed.
  template <class Sample>
  bool next(size_t bytes, Sample&& sample) {
    if (asked_ != compression::automatic)
      return asked_ == compression::snappy;
    if (bytes < smallest_block)
      return false;
    if (bytes > until_sample_) {
      pays_ = sample() <= paying_share;
      distance_ = pays_ ? first_distance : std::min(2 * distance_, longest_distance);
      until_sample_ = distance_;
    }
    until_sample_ -= std::min<uint64_t>(bytes, until_sample_);
    return pays_;
  }

private:
  compression asked_ = compression::none;
  bool pays_ = false;
  uint64_t distance_ = first_distance / 2;
  uint64_t until_sample_ = 0;
};

} // namespace headrace::detail
