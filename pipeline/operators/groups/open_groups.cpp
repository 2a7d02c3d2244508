#include "headrace/pipeline/operators/groups/open_groups.hpp"

#include "headrace/pipeline/iterator/column_gather.hpp"

namespace headrace::detail {

namespace {

/// The rows `runs` of `in`. They are copied if they are not adjacent (by `gather_rows`), or if they
/// are less than half of the block, so that the block can be freed.
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

/// Merges two lists of keys and numbers of rows. For a key in both lists the number in `later` is
/// valid. `all`: the result is a list of all groups, so closed groups (0 rows) are left out.
position_ptr merged(const position& earlier, const position& later, bool all) {
  auto out = std::make_shared<position>();
  out->op = dataset_op::group_by_window;
  const auto &a = earlier.numbers, &b = later.numbers;
  const auto append = [&](const std::vector<uint64_t>& from, size_t i) {
    if (!all || from[i + 1] != 0)
      out->numbers.insert(out->numbers.end(), {from[i], from[i + 1]});
  };
  const auto key = [](const std::vector<uint64_t>& of, size_t i) {
    return static_cast<int64_t>(of[i]);
  };
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && key(a, i) < key(b, j))) {
      append(a, i);
      i += 2;
      continue;
    }
    if (i < a.size() && a[i] == b[j])
      i += 2;
    append(b, j);
    j += 2;
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
  changed(key);
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
  changed(key);
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

void open_groups::changed(int64_t key) {
  if (saved_.empty())
    return;
  changed_.insert(key);
  // If a list of the changes would be longer than a list of all groups, the saved lists are
  // dropped, and changes are no longer recorded: the next position begins with a list of all groups
  // again.
  if (changed_.size() > groups_.size() + 1024) {
    saved_.clear();
    changed_.clear();
  }
}

void open_groups::save_to(position& to) const {
  if (saved_.empty() || !changed_.empty()) {
    auto now = std::make_shared<position>();
    now->op = dataset_op::group_by_window;
    if (saved_.empty())
      for (const auto& [key, held] : groups_)
        now->numbers.insert(now->numbers.end(), {static_cast<uint64_t>(key), held.rows});
    else
      for (const auto key : changed_)
        now->numbers.insert(now->numbers.end(), {static_cast<uint64_t>(key), rows_of(key)});
    changed_.clear();
    saved_.push_back(std::move(now));
  }
  // Lists are merged until each list is more than twice as long as the next one. So there are few
  // lists, and every key is copied only a few times.
  while (saved_.size() > 1) {
    const auto &earlier = saved_[saved_.size() - 2], &later = saved_.back();
    if (earlier->numbers.size() > 2 * later->numbers.size())
      break;
    auto both = merged(*earlier, *later, saved_.size() == 2);
    saved_.pop_back();
    saved_.back() = std::move(both);
  }
  to.numbers.push_back(saved_.size());
  to.parts.insert(to.parts.end(), saved_.begin(), saved_.end());
}

std::map<int64_t, uint64_t> open_groups::saved_counts(position_reader& from, uint64_t most) {
  std::map<int64_t, uint64_t> out;
  for (auto parts = from.number(); parts != 0 && from.fits(); --parts) {
    const auto part = from.part();
    if (!part || part->numbers.size() % 2 != 0) {
      from.refuse();
      break;
    }
    for (size_t i = 0; i < part->numbers.size(); i += 2) {
      const auto rows = part->numbers[i + 1];
      if (rows > most)
        from.refuse();
      else if (rows == 0)
        out.erase(static_cast<int64_t>(part->numbers[i]));
      else
        out[static_cast<int64_t>(part->numbers[i])] = rows;
    }
  }
  return out;
}

block open_groups::take(int64_t key, const block& in, std::vector<row_run> last,
                        uint64_t& kernel_calls) {
  group taken;
  if (const auto at = groups_.find(key); at != groups_.end()) {
    changed(key);
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
