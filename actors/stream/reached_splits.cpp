#include "headrace/actors/stream/reached_splits.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

namespace headrace::detail {

namespace {

/// Adds `[first, end)`, joined with the runs that overlap it or are adjacent.
template <class Runs>
void join(Runs& to, uint64_t first, uint64_t end) {
  auto next = to.upper_bound(first);
  if (next != to.begin())
    if (auto before = std::prev(next); before->second >= first) {
      first = before->first;
      end = std::max(end, before->second);
      next = to.erase(before);
    }
  while (next != to.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = to.erase(next);
  }
  to.emplace_hint(next, first, end);
}

/// Sorts runs by pass, source and first split, and joins those that overlap or are adjacent.
void join_neighbours(std::vector<split_run>& all) {
  std::ranges::sort(all, {}, [](const split_run& x) {
    return std::tuple{x.pass, x.source, x.splits.first};
  });
  size_t used = 0;
  for (const auto& x : all) {
    if (used != 0)
      if (auto& last = all[used - 1]; last.pass == x.pass && last.source == x.source
                                      && x.splits.first <= last.splits.first + last.splits.count) {
        const auto end = x.splits.first + x.splits.count;
        last.splits.count = std::max(last.splits.count, end - last.splits.first);
        continue;
      }
    all[used++] = x;
  }
  all.resize(used);
}

/// Reduces the number of runs to `most` by closing the smallest gaps between neighbours. Only runs
/// of the same pass and source are joined, so more runs than `most` may remain.
void coarsen(std::vector<split_run>& all, size_t most) {
  const auto gap = [&](size_t i) { // the gap before run i
    const auto& a = all[i - 1];
    const auto& b = all[i];
    return a.source == b.source && a.pass == b.pass
             ? b.splits.first - (a.splits.first + a.splits.count)
             : UINT64_MAX;
  };
  if (all.size() <= most)
    return;
  std::vector<uint64_t> gaps;
  for (size_t i = 1; i < all.size(); ++i) gaps.push_back(gap(i));
  const auto excess = all.size() - std::max<size_t>(most, 1);
  auto sorted = gaps;
  const auto cut = sorted.begin() + static_cast<ptrdiff_t>(excess - 1);
  std::ranges::nth_element(sorted, cut);
  const auto widest = *cut;
  // Of the gaps with the width `widest`, only as many are closed as necessary.
  auto as_wide = std::count(sorted.begin(), cut + 1, widest);
  std::vector<split_run> out{all.front()};
  for (size_t i = 1; i < all.size(); ++i) {
    const auto g = gaps[i - 1];
    if (g != UINT64_MAX && (g < widest || (g == widest && as_wide-- > 0)))
      out.back().splits.count = all[i].splits.first + all[i].splits.count - out.back().splits.first;
    else
      out.push_back(all[i]);
  }
  all = std::move(out);
}

} // namespace

void reached_splits::add(const block& rows) {
  unknown_ |= rows.origins.empty() && rows.rows != 0;
  for (const auto& run : rows.origins) {
    if (run.rows == 0)
      continue;
    const auto last = run.split + run.step * (run.rows - 1);
    // No source has as many splits as this, and sums of smaller numbers do not overflow.
    constexpr auto most = uint64_t{1} << 62;
    if (run.split >= most || last >= most) {
      unknown_ = true;
      continue;
    }
    if (run.pass >= from_pass_) {
      if (run.step == 1 || run.rows == 1 || run.step == 0)
        add_range(run.source, run.pass, run.split, run.step == 1 ? run.rows : 1);
      else
        for (uint64_t i = 0; i < run.rows; ++i)
          add_range(run.source, run.pass, run.split + i * run.step, 1);
    }
    newest_ = {run.source, run.pass, {last, 1}};
  }
}

void reached_splits::add_range(uint32_t source, uint64_t pass, uint64_t first, uint64_t count) {
  const auto end = first + count;
  while (first < end) {
    const auto number = first / chunk_splits;
    const auto stop = std::min(end, (number + 1) * chunk_splits);
    set(source, pass, number, first % chunk_splits, stop - number * chunk_splits);
    first = stop;
  }
}

void reached_splits::set(uint32_t source, uint64_t pass, uint64_t number, uint64_t from,
                         uint64_t to) {
  const key of{pass, source, number};
  auto& known = recent_[number % recent_.size()];
  if (known.bits == nullptr || known.of != of)
    known = {of, find(of)};
  if (known.bits == nullptr)
    return; // all splits of the chunk are recorded already
  auto& [bits, set_so_far] = *known.bits;
  for (auto at = from; at < to;) {
    const auto word = at / 64;
    const auto stop = std::min(to, (word + 1) * 64);
    const auto width = stop - at;
    const auto mask = (width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1) << (at % 64);
    set_so_far += static_cast<uint32_t>(std::popcount(mask & ~bits[word]));
    bits[word] |= mask;
    at = stop;
  }
  if (set_so_far == chunk_splits)
    fill(of);
}

reached_splits::chunk* reached_splits::find(const key& of) {
  if (const auto at = chunks_.find(of); at != chunks_.end())
    return at->second.get();
  const auto& [pass, source, number] = of;
  if (const auto all = whole_.find({pass, source}); all != whole_.end()) {
    const auto after = all->second.upper_bound(number * chunk_splits);
    if (after != all->second.begin() && std::prev(after)->second > number * chunk_splits)
      return nullptr;
  }
  forget_passes(pass);
  while (chunks_.size() >= most_chunks) {
    const auto first = oldest_.front();
    oldest_.pop_front();
    if (chunks_.contains(first)) {
      approximate_ = true;
      fill(first);
    }
  }
  if (oldest_.size() >= 2 * most_chunks)
    std::erase_if(oldest_, [&](const key& x) { return !chunks_.contains(x); });
  oldest_.push_back(of);
  return chunks_.emplace(of, std::make_unique<chunk>()).first->second.get();
}

void reached_splits::fill(const key& of) {
  const auto& [pass, source, number] = of;
  auto& all = whole_[{pass, source}];
  whole_runs_ -= all.size();
  join(all, number * chunk_splits, (number + 1) * chunk_splits);
  // If there are too many runs, the first gap is closed.
  if (whole_runs_ + all.size() > most_runs && all.size() > 1) {
    approximate_ = true;
    const auto first = all.begin()->first, end = std::next(all.begin())->second;
    join(all, first, end);
  }
  whole_runs_ += all.size();
  auto& known = recent_[number % recent_.size()];
  if (known.of == of)
    known = {};
  chunks_.erase(of);
}

void reached_splits::forget_passes(uint64_t newest) {
  if (newest < from_pass_ + most_passes)
    return;
  from_pass_ = newest - most_passes + 1;
  const auto keep = chunks_.lower_bound({from_pass_, 0, 0});
  chunks_.erase(chunks_.begin(), keep);
  std::erase_if(oldest_, [&](const key& x) { return std::get<0>(x) < from_pass_; });
  for (auto at = whole_.begin(); at != whole_.end() && at->first.first < from_pass_;) {
    whole_runs_ -= at->second.size();
    at = whole_.erase(at);
  }
  recent_ = {};
}

split_receipt reached_splits::receipt_of(task_id task, size_t most) const {
  split_receipt out{.task = task,
                    .from_pass = unknown_ ? UINT64_MAX : from_pass_,
                    .newest = newest_,
                    .approximate = approximate_,
                    .given_back = given_back_};
  auto& all = out.reached;
  for (const auto& [of, one] : whole_)
    for (const auto& [first, end] : one) all.push_back({of.second, of.first, {first, end - first}});
  for (const auto& [of, bits] : chunks_) {
    const auto& [pass, source, number] = of;
    for (uint64_t at = 0; at < chunk_splits;) {
      const auto rest = bits->bits[at / 64] >> (at % 64);
      if (rest == 0) {
        at = (at / 64 + 1) * 64;
        continue;
      }
      at += static_cast<uint64_t>(std::countr_zero(rest));
      const auto ones = static_cast<uint64_t>(std::countr_one(bits->bits[at / 64] >> (at % 64)));
      all.push_back({source, pass, {number * chunk_splits + at, ones}});
      at += ones;
    }
  }
  join_neighbours(all);
  out.approximate |= all.size() > most;
  coarsen(all, most);
  return out;
}

} // namespace headrace::detail
