#include "headrace/pipeline/engine/held_input.hpp"

namespace headrace::detail {

std::optional<block> held_input::next(const limits& wanted) {
  auto at = input_->save();
  auto out = input_->next(wanted);
  if (!out)
    return out;
  if (marks_.size() == most_marks) {
    std::deque<mark> fewer;
    for (size_t i = 0; i < marks_.size(); i += 2) fewer.push_back(std::move(marks_[i]));
    marks_ = std::move(fewer);
  }
  marks_.push_back({rows_, std::move(at)});
  rows_ += out->rows;
  return out;
}

void held_input::release_before(uint64_t row) noexcept {
  if (row == rows_)
    marks_.clear();
  while (marks_.size() > 1 && marks_[1].row <= row) marks_.pop_front();
}

resume_point held_input::point(uint64_t row) const {
  if (row == rows_)
    return {input_->save(), 0};
  size_t i = 0;
  while (i + 1 < marks_.size() && marks_[i + 1].row <= row) ++i;
  return {marks_[i].at, row - marks_[i].row};
}

} // namespace headrace::detail
