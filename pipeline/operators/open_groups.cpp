#include "headrace/pipeline/operators/open_groups.hpp"

#include "headrace/pipeline/iterator/column_gather.hpp"

namespace headrace::detail {

namespace {

/// The rows, without keeping the block alive for a few of them.
block own_rows(const block& in, const std::vector<row_run>& runs, uint64_t& kernel_calls) {
  const block* piece = &in;
  auto out = gather_rows({&piece, 1}, runs, kernel_calls);
  if (runs.size() != 1 || out.rows * 2 >= in.rows)
    return out;
  for (size_t i = 0; i < out.columns.size(); ++i) {
    out.columns[i] = *column_gather{{&piece, 1}, runs, i, out.rows}.copy();
    ++kernel_calls;
  }
  return out;
}

} // namespace

uint64_t open_groups::rows_of(int64_t key) const noexcept {
  const auto at = groups_.find(key);
  return at == groups_.end() ? 0 : at->second.rows;
}

void open_groups::put(int64_t key, const block& in, const std::vector<row_run>& runs,
                      uint64_t first, uint64_t& kernel_calls) {
  group::piece made{own_rows(in, runs, kernel_calls), {}};
  for (const auto& run : runs)
    for (uint32_t i = 0; i < run.count; ++i) made.numbers.push_back(first + run.first + i);
  auto& to = groups_[key];
  to.rows += made.rows.rows;
  to.pieces.push_back(std::move(made));
  if (to.pieces.size() == 1)
    firsts_.insert(to.first());
}

void open_groups::keep_last(int64_t key, uint64_t rows) {
  const auto at = groups_.find(key);
  if (at == groups_.end() || at->second.rows <= rows)
    return;
  auto& held = at->second;
  firsts_.erase(held.first());
  while (held.rows > rows) {
    auto& front = held.pieces.front();
    const auto over = held.rows - rows;
    if (over >= front.rows.rows) {
      held.rows -= front.rows.rows;
      held.pieces.pop_front();
      continue;
    }
    front.rows = front.rows.slice(over, front.rows.rows - over);
    front.numbers.erase(front.numbers.begin(),
                        front.numbers.begin() + static_cast<std::ptrdiff_t>(over));
    held.rows = rows;
  }
  if (held.pieces.empty())
    groups_.erase(at);
  else
    firsts_.insert(held.first());
}

block open_groups::take(int64_t key, const block& in, std::vector<row_run> last,
                        uint64_t& kernel_calls) {
  group taken;
  if (const auto at = groups_.find(key); at != groups_.end()) {
    taken = std::move(at->second);
    groups_.erase(at);
    firsts_.erase(taken.first());
  }
  std::vector<const block*> pieces;
  std::vector<row_run> runs;
  for (const auto& piece : taken.pieces) {
    runs.push_back(
      {static_cast<uint32_t>(pieces.size()), 0, static_cast<uint32_t>(piece.rows.rows)});
    pieces.push_back(&piece.rows);
  }
  for (auto& run : last) {
    run.piece = static_cast<uint32_t>(pieces.size());
    runs.push_back(run);
  }
  if (!last.empty())
    pieces.push_back(&in);
  return gather_rows(pieces, runs, kernel_calls);
}

} // namespace headrace::detail
