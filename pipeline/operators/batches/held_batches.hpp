#pragma once

#include "headrace/pipeline/operators/mixes/held_pieces.hpp"

namespace headrace::detail {

/// The rows of an input, grouped into batches: they are read when they are needed, and kept until
/// they are returned.
class held_batches {
public:
  /// `size`: the number of rows of a batch. `drop_remainder`: a smaller batch at the end is left
  /// out.
  held_batches(std::unique_ptr<iterator> input, size_t size, bool drop_remainder)
    : held_(std::move(input)), size_(size), drop_remainder_(drop_remainder) {}

  /// Rows of consecutive batches of `size` rows.
  struct batches {
    block rows;
    size_t size = 0;
  };
  /// Waits for one batch, and returns it, or several complete batches if they were read by then and
  /// `wanted` allows it. At the end it returns a smaller batch, then nullopt.
  std::optional<batches> next(const limits& wanted, uint64_t& kernel_calls);

  /// The point at which to continue so that the held rows are read again.
  resume_point point() const { return held_.point(); }
  status restore(position_reader& from) { return held_.restore(from); }

private:
  size_t batches_in(size_t bytes) const;
  void fill(size_t batches);
  block take(size_t rows, uint64_t& kernel_calls);

  held_pieces held_;
  const size_t size_;
  const bool drop_remainder_;
  size_t row_bytes_ = 0; ///< the bytes of a row in the last block of the input
};

} // namespace headrace::detail
