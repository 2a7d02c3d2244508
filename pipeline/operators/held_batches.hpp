#pragma once

#include "headrace/pipeline/operators/held_pieces.hpp"

namespace headrace::detail {

/// The rows of an input, as many at a time as whole batches have: read as they are needed, and kept
/// until they are given.
class held_batches {
public:
  /// `size`: rows of a batch. `drop_remainder`: rows at the end that fill no batch are not given.
  held_batches(std::unique_ptr<iterator> input, size_t size, bool drop_remainder)
    : held_(std::move(input)), size_(size), drop_remainder_(drop_remainder) {}

  /// Rows of neighbouring batches of `size` rows.
  struct batches {
    block rows;
    size_t size = 0;
  };
  /// As many batches as lie at hand once there is one, at most what `wanted` says: whole ones, or
  /// at the end a smaller one; nullopt then.
  std::optional<batches> next(const limits& wanted, uint64_t& kernel_calls);

  /// Where to begin again to read what is held.
  resume_point point() const { return held_.point(); }
  status restore(position_reader& from) { return held_.restore(from); }

private:
  size_t batches_in(size_t bytes) const;
  void fill(size_t batches);
  block take(size_t rows, uint64_t& kernel_calls);

  held_pieces held_;
  const size_t size_;
  const bool drop_remainder_;
  size_t row_bytes_ = 0; ///< of the last input
};

} // namespace headrace::detail
