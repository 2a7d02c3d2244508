#pragma once

#include "headrace/pipeline/types/block.hpp"

#include <cstdint>
#include <memory>

namespace headrace::stream {

/// Some rows of a produced block, and where they stand in their task's output. Splitting and
/// joining touch no column.
struct fragment {
  std::shared_ptr<const block> base;
  uint64_t index = 0; ///< of the first row in the task's output
  uint32_t first = 0; ///< row in `base`
  uint32_t rows = 0;
  uint64_t bytes = 0; ///< of these rows

  /// All of `base`. @pre fewer than 2^32 rows
  static fragment whole(std::shared_ptr<const block> base, uint64_t index);
  bool is_whole() const noexcept { return rows == base->rows; }
  uint64_t end() const noexcept { return index + rows; }
  /// Cuts off and returns the first `count` rows. @pre `0 < count < rows`
  fragment take_front(uint32_t count);
  /// Cuts off and returns all but the first `keep` rows. @pre `0 < keep < rows`
  fragment take_back(uint32_t keep);
  /// True if `next` goes on where this ends in the same base.
  bool continues_with(const fragment& next) const noexcept {
    return base == next.base && first + rows == next.first && end() == next.index;
  }
  /// @pre `continues_with(next)`
  void append(const fragment& next) noexcept;
  /// The rows as a block; the base itself if it is whole.
  std::shared_ptr<const block> view() const;
  /// How many rows from the front are at most `budget` bytes; may be zero.
  uint32_t rows_within(uint64_t budget) const;
};

} // namespace headrace::stream
