#pragma once

#include "headrace/pipeline/iterator/position.hpp"

#include <deque>

namespace headrace::detail {

/// Records marks: positions of an input from which the rows in a buffer can be read again. Rows
/// leave the buffer in any order. Rows of neighbouring blocks share a mark, so that there are few
/// marks.
class held_rows {
public:
  struct mark {
    position_ptr at;      ///< the position of the input
    uint64_t row = 0;     ///< the number of input rows that were read before the mark
    uint64_t entered = 0; ///< the number of rows that had entered the buffer before the mark
    /// The number of rows that entered between this mark and the next one and are still in the
    /// buffer.
    uint32_t held = 0;
  };

  /// `size`: the capacity of the buffer.
  explicit held_rows(uint64_t size) : gap_(std::max<uint64_t>(1, size / 64)) {}

  /// True if a mark must be added before the input's row number `row`.
  bool wants_mark(uint64_t row) const noexcept {
    return marks_.empty() || (row - marks_.back().row >= gap_ && marks_.size() < UINT16_MAX);
  }
  void add_mark(mark m) {
    marks_.push_back(std::move(m));
    drop_unused();
  }
  /// Records that a row entered the buffer, at the last place. @pre there is a mark
  void put() {
    ++marks_.back().held;
    of_.push_back(static_cast<uint16_t>(base_ + marks_.size() - 1));
  }
  /// Records that the row at `place` left the buffer, and the row at the last place took its place.
  void give(size_t place) {
    const auto which = static_cast<uint16_t>(of_[place] - base_);
    of_[place] = of_.back();
    of_.pop_back();
    if (--marks_[which].held == 0 && which == 0)
      drop_unused();
  }
  /// A hint that `give(place)` is likely to be called soon.
  void prefetch(size_t place) const { __builtin_prefetch(of_.data() + place, 1); }
  /// Records that the rows were permuted: place i got the row of place `from[i]`.
  void arrange(const std::vector<uint32_t>& from) {
    std::vector<uint16_t> moved;
    for (auto place : from) moved.push_back(of_[place]);
    of_ = std::move(moved);
  }
  /// The mark from which the oldest held row can be read again. @pre there is a mark
  const mark& oldest() const noexcept { return marks_.front(); }

private:
  void drop_unused() {
    while (marks_.size() > 1 && marks_.front().held == 0) {
      marks_.pop_front();
      ++base_;
    }
  }

  uint64_t gap_; ///< the least number of rows between marks
  std::deque<mark> marks_;
  uint16_t base_ = 0;        ///< the number of the first mark, modulo 2^16
  std::vector<uint16_t> of_; ///< for each place: the number of its row's mark, modulo 2^16
};

} // namespace headrace::detail
