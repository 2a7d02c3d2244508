#pragma once

#include "headrace/pipeline/iterator/position_reader.hpp"

#include <deque>

namespace headrace::detail {

/// The input of an operator that holds rows of it for a while: remembers where to begin again to
/// read those that are held. Rows are numbered from 0, anew after `restore`.
class held_input {
public:
  explicit held_input(std::unique_ptr<iterator> input) : input_(std::move(input)) {}

  std::optional<block> next(const limits& wanted);
  /// Rows that were read.
  uint64_t rows() const noexcept { return rows_; }
  /// Rows before `row` are not held any more.
  void release_before(uint64_t row) noexcept;
  /// Where to begin again to read on from `row`. @pre `row` was not released, `row <= rows()`
  resume_point point(uint64_t row) const;
  /// Begins at what `put` stored of a point. @pre nothing was read
  status restore(position_reader& from) { return from.resume(*input_); }

private:
  struct mark {
    uint64_t row;
    position_ptr at; ///< before that row
  };
  // More of them would help little, and a row that is held for ever must not make them grow.
  static constexpr size_t most_marks = 256;

  std::unique_ptr<iterator> input_;
  uint64_t rows_ = 0;
  std::deque<mark> marks_; ///< the first one is at or before the oldest row that is held
};

} // namespace headrace::detail
