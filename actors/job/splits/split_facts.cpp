#include "headrace/actors/job/splits/split_assigner.hpp"

#include <algorithm>
#include <limits>

// This file applies facts to a split_assigner.

namespace headrace::detail {

// -- facts ----------------------------------------------------------------------------

void split_assigner::apply(const fact& what) {
  std::visit([this](const auto& x) { on(x); }, what);
}

void split_assigner::on(const shared_by& x) { tasks_ = x.tasks; }

void split_assigner::on(const came_to& x) {
  const key where{x.pass, group_of(x.source)};
  auto& g = group(where.second, x.source);
  // When a zip ends with its shorter input, the task sends no question about the end of the longer
  // one. So its question about a later pass of a source also ends the earlier passes of the source.
  auto& from = g.at[{x.task, x.source}];
  const auto to = holdings_.lower_bound({std::max(from, x.pass), 0});
  for (auto at = holdings_.lower_bound({from, 0}); at != to; ++at)
    if (at->first.second == where.second)
      if (auto mine = at->second.find(x.task); mine != at->second.end())
        mine->second.done.insert(x.source);
  from = std::max(from, x.pass);
  forget_if_over({g.passes_over, where.second});
  if (x.pass < g.passes_over && !passes_.contains(where))
    return;
  auto [at, fresh] = passes_.try_emplace(where);
  auto& pass = at->second;
  if (fresh)
    pass.total = g.total;
  if (x.total)
    pass.end_at(*x.total);
  if (x.listing)
    pass.listings.try_emplace(x.source, *x.listing);
  holdings_[where][x.task].given[x.source];
}

void split_assigner::on(const leased_to& x) {
  if (has_given(x))
    return;
  if (x.number) {
    auto& last = answered_[{x.task, x.source}];
    if (x.continues && last.pass == x.pass && last.number + last.pieces.size() == *x.number)
      last.pieces.push_back(x.splits);
    else
      last = {x.pass, *x.number, {x.splits}};
  }
  const key where{x.pass, group_of(x.source)};
  const auto pass = passes_.find(where);
  if (pass == passes_.end())
    return;
  const auto& g = groups_.at(where.second);
  auto& mine = holdings_[where][x.task];
  if (!x.splits) {
    mine.done.insert(x.source);
    return forget_if_over(where);
  }
  auto& told = mine.given[x.source];
  if (told == mine.dropped + mine.ranges.size()) {
    pass->second.lease(*x.splits);
    pass->second.shared |= pass->second.reader && *pass->second.reader != x.task;
    pass->second.reader = x.task;
    leased_ += x.splits->count;
    mine.ranges.push_back(*x.splits);
    mine.end = x.splits->first + x.splits->count;
  }
  ++told;
  uint64_t everybody = told;
  for (auto source : g.sources) everybody = std::min(everybody, mine.given[source]);
  for (; mine.dropped < everybody; ++mine.dropped) mine.ranges.pop_front();
}

void split_assigner::on(const task_gone& x) {
  for (auto& [where, holders] : holdings_) holders.erase(x.task);
  for (auto& [number, g] : groups_) {
    g.paces.erase(x.task);
    std::erase_if(g.at, [&](const auto& entry) { return entry.first.first == x.task; });
  }
  std::erase_if(answered_, [&](const auto& entry) { return entry.first.first == x.task; });
}

void split_assigner::on(const returned& x) {
  const key where{x.pass, group_of(x.source)};
  auto pass = passes_.find(where);
  if (pass == passes_.end()) {
    const auto g = groups_.find(where.second);
    if (!x.kept || g == groups_.end() || x.pass >= g->second.passes_over)
      return;
    pass = passes_.try_emplace(where).first;
    pass->second.remnant = true;
  }
  if (pass->second.remnant) {
    pass->second.next = std::max(pass->second.next, x.splits.first + x.splits.count);
    pass->second.total = pass->second.next;
  }
  auto splits = x.splits;
  if (const auto total = pass->second.total)
    splits.count = std::min(splits.count, *total - std::min(*total, splits.first));
  if (splits.count != 0)
    pass->second.returned.push_back(splits);
  pass->second.keeps |= x.kept;
  leased_ -= x.splits.count;
}

void split_assigner::on(const closed& x) {
  const key where{x.pass, group_of(x.source)};
  const auto holders = holdings_.find(where);
  if (holders == holdings_.end() || !holders->second.contains(x.task))
    return;
  auto& mine = holders->second.at(x.task);
  for (auto source : groups_.at(where.second).sources) mine.done.insert(source);
  mine.dropped += mine.ranges.size();
  mine.ranges.clear();
  forget_if_over(where);
}

void split_assigner::pass_state::end_at(uint64_t most) {
  total = total ? std::min(*total, most) : most;
  for (auto& splits : returned)
    splits.count = std::min(splits.count, *total - std::min(*total, splits.first));
  std::erase_if(returned, [](const auto& x) { return x.count == 0; });
}

void split_assigner::pass_state::lease(const split_range& splits) {
  if (splits.first >= next) {
    next = splits.first + splits.count;
    return;
  }
  const auto from = std::ranges::find(returned, splits.first, &split_range::first);
  if (from == returned.end())
    return;
  const auto count = std::min(splits.count, from->count);
  *from = {from->first + count, from->count - count};
  if (from->count == 0)
    returned.erase(from);
}

bool split_assigner::all_done(key where) const {
  const auto holders = holdings_.find(where);
  const auto sources = groups_.at(where.second).sources.size();
  return holders == holdings_.end() || std::ranges::all_of(holders->second, [&](const auto& entry) {
           return entry.second.done.size() >= sources;
         });
}

void split_assigner::forget_if_over(key where) {
  forget_late(where.second);
  auto& g = groups_.at(where.second);
  // Passes are forgotten in order, so that one number suffices to record which are over.
  for (;;) {
    const auto at = passes_.find({g.passes_over, where.second});
    if (at == passes_.end())
      return;
    auto& pass = at->second;
    const bool all_read = pass.total && pass.next >= *pass.total;
    const bool all_left = is_left(at->first);
    // Returned splits that are not kept are only for tasks that still read the pass.
    const bool read_on = !pass.returned.empty() && !pass.keeps && !all_left;
    if ((!all_read && !all_left) || read_on || !all_done(at->first))
      return;
    ++g.passes_over;
    holdings_.erase(at->first);
    if (pass.returned.empty() || !pass.keeps)
      passes_.erase(at);
    else if (!pass.total)
      pass.total = pass.next; // a pass without end: only returned splits are left of it
  }
}

bool split_assigner::is_left(key where) const {
  std::set<task_id> further;
  uint64_t last = 0;
  for (const auto& [of, pass] : groups_.at(where.second).at) {
    last = std::max(last, pass);
    if (pass > where.first)
      further.insert(of.first);
  }
  return further.size() >= tasks_ || last > where.first + most_passes;
}

void split_assigner::forget_late(uint32_t number) {
  const auto over = groups_.at(number).passes_over;
  for (auto at = passes_.begin(); at != passes_.end() && at->first.first < over;) {
    if (at->first.second != number || !at->second.returned.empty() || !all_done(at->first)) {
      ++at;
      continue;
    }
    holdings_.erase(at->first);
    at = passes_.erase(at);
  }
}

bool split_assigner::has_rest() const noexcept {
  return std::ranges::any_of(passes_, [](const auto& entry) {
    return entry.second.keeps && !entry.second.returned.empty();
  });
}

bool split_assigner::spent() const {
  return !plan_.sources.empty() && std::ranges::all_of(plan_.sources, [this](const auto& source) {
    const auto g = groups_.find(source.group);
    if (source.passes != 1 || g == groups_.end())
      return false;
    const auto pass = passes_.find({0, source.group});
    if (pass == passes_.end())
      return g->second.passes_over != 0;
    const auto& left = pass->second;
    return left.total && left.next >= *left.total && left.returned.empty();
  });
}

size_t split_assigner::records() const noexcept {
  auto n = passes_.size() + answered_.size();
  for (const auto& [where, holders] : holdings_)
    for (const auto& [who, h] : holders) n += 1 + h.ranges.size();
  for (const auto& [where, pass] : passes_) n += pass.returned.size();
  for (const auto& [number, g] : groups_) n += 1 + g.at.size();
  return n;
}

} // namespace headrace::detail
