#pragma once

#include "headrace/pipeline/engine/held_input.hpp"
#include "headrace/pipeline/iterator/gather.hpp"

#include <deque>

namespace headrace::detail {

/// The next rows of an input: they are read when they are needed, and kept until they are dropped.
class held_pieces {
public:
  explicit held_pieces(std::unique_ptr<iterator> input) : input_(std::move(input)) {}

  /// Reads until at least `least` and at most `most` rows are held, or the input ends.
  void fill(size_t least, size_t most, size_t bytes) {
    while (held_ < least && !ended_) {
      auto more = input_.next({most - held_, bytes});
      if (!more) {
        ended_ = true;
        return;
      }
      held_ += more->rows;
      pieces_.push_back(*std::move(more));
    }
  }
  size_t held() const noexcept { return held_; }
  /// The held rows, as pieces for `gather_rows`.
  std::vector<const block*> pieces() const {
    std::vector<const block*> out;
    for (const auto& piece : pieces_) out.push_back(&piece);
    return out;
  }
  /// The blocks that contain the first and the last held row. @pre `held() > 0`
  const block& front() const { return pieces_.front(); }
  const block& back() const { return pieces_.back(); }
  /// The first `rows` held rows, in one block. @pre `0 < rows <= held()`
  block first(size_t rows, uint64_t& kernel_calls) const {
    std::vector<const block*> pieces;
    std::vector<row_run> runs;
    for (auto piece = pieces_.begin(); rows != 0; ++piece) {
      const auto count = std::min(rows, piece->rows);
      runs.push_back({static_cast<uint32_t>(pieces.size()), 0, static_cast<uint32_t>(count)});
      pieces.push_back(&*piece);
      rows -= count;
    }
    return gather_rows(pieces, runs, kernel_calls);
  }
  /// Appends held row number `row` to `runs`, which refer to `pieces()`. @pre `row < held()`
  void append(std::vector<row_run>& runs, size_t row) const {
    uint32_t piece = 0;
    for (; row >= pieces_[piece].rows; ++piece) row -= pieces_[piece].rows;
    append_run(runs, {piece, static_cast<uint32_t>(row), 1});
  }
  /// Drops the first `rows` held rows. @pre `rows <= held()`
  void drop(size_t rows) {
    held_ -= rows;
    input_.release_before(input_.rows() - held_);
    while (rows != 0 && rows >= pieces_.front().rows) {
      rows -= pieces_.front().rows;
      pieces_.pop_front();
    }
    if (rows != 0)
      pieces_.front() = pieces_.front().slice(rows, pieces_.front().rows - rows);
  }
  /// The point at which to continue so that the held rows are read again.
  resume_point point() const { return input_.point(input_.rows() - held_); }
  status restore(position_reader& from) { return input_.restore(from); }

private:
  held_input input_;
  std::deque<block> pieces_;
  size_t held_ = 0;
  bool ended_ = false;
};

} // namespace headrace::detail
