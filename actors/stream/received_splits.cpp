#include "headrace/actors/stream/received_splits.hpp"

#include <algorithm>

namespace headrace::detail {

void received_splits::piece::cut(size_t first, size_t count) {
  if (!origins.empty()) {
    std::vector<origin> some;
    append_origins(some, origins, first, count);
    origins = std::move(some);
  }
  rows = count;
}

void received_splits::add(const block& rows) {
  end_ += rows.rows;
  pieces_.push_back({rows.rows, rows.origins});
}

void received_splits::settle(size_t rows) {
  auto& front = pieces_.front();
  block out;
  out.rows = std::min(rows, front.rows);
  begin_ += out.rows;
  if (out.rows == front.rows) {
    out.origins = std::move(front.origins);
    pieces_.pop_front();
  } else {
    auto part = front;
    part.cut(0, out.rows);
    out.origins = std::move(part.origins);
    front.cut(out.rows, front.rows - out.rows);
  }
  settled_.add(out);
}

void received_splits::handed_out(uint64_t elements) {
  while (begin_ < elements && !pieces_.empty()) settle(elements - begin_);
}

void received_splits::give_back(uint64_t mark) {
  mark = std::max(mark, begin_);
  if (mark >= end_)
    return;
  settled_.give_back(end_ - mark);
  while (end_ > mark) {
    auto& back = pieces_.back();
    const auto gone = std::min<uint64_t>(end_ - mark, back.rows);
    end_ -= gone;
    if (gone == back.rows)
      pieces_.pop_back();
    else
      back.cut(0, back.rows - gone);
  }
}

split_receipt received_splits::receipt_of(task_id task, size_t most) {
  handed_out(end_);
  auto out = settled_.receipt_of(task, most);
  out.without_given_back = true;
  return out;
}

} // namespace headrace::detail
