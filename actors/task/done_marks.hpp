#pragma once

#include "headrace/pipeline/iterator/splits_done.hpp"

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace headrace::detail {

/// Records which splits a task's runner no longer needs, and after how many rows: the splits are
/// done when the readers have handed out all rows before that number. Only a few marks are kept,
/// whatever the distance between the runner and the slowest reader. Pure.
class done_marks {
public:
  static constexpr size_t most = 64;

  /// The runner has produced `rows` rows, and no later row will descend from these splits.
  void add(uint64_t rows, std::vector<splits_done> splits) {
    // Another runner repeats the marks of an earlier one.
    if (splits.empty() || (!marks_.empty() && rows <= marks_.back().first) || rows <= told_)
      return;
    marks_.emplace_back(rows, std::move(splits));
    if (marks_.size() > most)
      thin_out();
  }
  bool empty() const noexcept { return marks_.empty(); }
  /// The first `rows` rows were handed out. Returns all splits that are done, or an empty list if
  /// no more splits are done than at the last call.
  std::vector<splits_done> through(uint64_t rows) {
    std::vector<splits_done> out;
    for (; !marks_.empty() && marks_.front().first <= rows; marks_.pop_front()) {
      told_ = marks_.front().first;
      out = std::move(marks_.front().second);
    }
    return out;
  }

private:
  /// Removes every other mark, but never the last.
  void thin_out() {
    std::deque<std::pair<uint64_t, std::vector<splits_done>>> rest;
    for (size_t i = marks_.size() % 2 == 0 ? 1 : 0; i < marks_.size(); i += 2)
      rest.push_back(std::move(marks_[i]));
    marks_ = std::move(rest);
  }

  std::deque<std::pair<uint64_t, std::vector<splits_done>>> marks_; ///< in ascending order of rows
  uint64_t told_ = 0;
};

} // namespace headrace::detail
