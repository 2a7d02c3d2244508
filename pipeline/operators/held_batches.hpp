#pragma once

#include "headrace/pipeline/iterator/held_input.hpp"
#include "headrace/pipeline/types/block.hpp"

#include <deque>

namespace headrace::detail {

/// The rows of an input, as many at a time as whole batches have: read as they are needed, and kept
/// until they are given.
class held_batches {
public:
  /// `size`: rows of a batch. `drop_remainder`: rows at the end that fill no batch are not given.
  held_batches(std::unique_ptr<iterator> input, size_t size, bool drop_remainder)
    : input_(std::move(input)), size_(size), drop_remainder_(drop_remainder) {}

  /// Rows of neighbouring batches of `size` rows.
  struct batches {
    block rows;
    size_t size = 0;
  };
  /// As many batches as lie at hand once there is one, at most what `wanted` says: whole ones, or
  /// at the end a smaller one; nullopt then.
  std::optional<batches> next(const limits& wanted, uint64_t& kernel_calls);

  /// Where to begin again to read what is held.
  resume_point point() const { return input_.point(input_.rows() - held_); }
  status restore(position_reader& from) { return input_.restore(from); }

private:
  size_t batches_in(size_t bytes) const;
  void fill(size_t batches);
  block take(size_t rows, uint64_t& kernel_calls);

  held_input input_;
  const size_t size_;
  const bool drop_remainder_;
  std::deque<block> pieces_;
  size_t held_ = 0;      ///< rows in pieces
  size_t row_bytes_ = 0; ///< of the last input
  bool ended_ = false;
};

} // namespace headrace::detail
