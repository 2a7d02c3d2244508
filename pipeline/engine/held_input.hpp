#pragma once

#include "headrace/pipeline/iterator/position_reader.hpp"

#include <deque>

namespace headrace::detail {

/// The input of an operator that holds rows of the input for some time. This class records the
/// positions from which the held rows can be read again. Rows are numbered from 0, and again from 0
/// after `restore`.
class held_input {
public:
  explicit held_input(std::unique_ptr<iterator> input) : input_(std::move(input)) {}

  std::optional<block> next(const limits& wanted);
  /// The number of rows that were read.
  uint64_t rows() const noexcept { return rows_; }
  /// Records that rows before `row` are no longer held.
  void release_before(uint64_t row) noexcept;
  /// The point from which to continue with `row`. @pre `row` was not released, `row <= rows()`
  resume_point point(uint64_t row) const;
  /// Continues at a stored point. @pre nothing was read
  status restore(position_reader& from) { return from.resume(*input_); }

private:
  struct mark {
    uint64_t row;
    position_ptr at; ///< the position before that row
  };
  // The most marks. The bound is reached if a row is held while many blocks are read: then every
  // second mark is dropped, so that more rows must be read again after `restore`.
  static constexpr size_t most_marks = 256;

  std::unique_ptr<iterator> input_;
  uint64_t rows_ = 0;
  std::deque<mark> marks_; ///< the first one is at or before the oldest held row
};

} // namespace headrace::detail
