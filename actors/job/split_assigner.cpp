#include "headrace/actors/job/split_assigner.hpp"

#include <algorithm>
#include <limits>

namespace headrace {

namespace {

/// Sources under one zip that do not advance together are read at about the same pace: small leases
/// keep them close.
constexpr uint64_t most_unaligned = 8;
constexpr uint64_t most_growth = 8;

} // namespace

split_assigner::split_assigner(const split_plan& plan) : plan_(plan) {
  for (uint32_t i = 0; i < plan_.sources.size(); ++i) {
    const auto& source = plan_.sources[i];
    auto& g = groups_[source.group];
    g.sources.push_back(i);
    g.in_pairs = g.sources.size() == 1 && source.zipped;
    // Sources that advance together end with the shortest.
    if (source.splits)
      g.total = g.total ? std::min(*g.total, *source.splits) : *source.splits;
  }
}

uint32_t split_assigner::group_of(uint32_t source) const noexcept {
  return source < plan_.sources.size() ? plan_.sources[source].group
                                       : static_cast<uint32_t>(plan_.groups + source);
}

split_assigner::group_state& split_assigner::group(uint32_t number, uint32_t source) {
  auto& g = groups_[number];
  if (g.sources.empty()) // not in the plan
    g.sources.push_back(source);
  return g;
}

bool split_assigner::holding::unread(uint32_t source) const {
  auto at = given.find(source);
  const auto told = at == given.end() ? 0 : at->second;
  return (told != 0 || dropped + ranges.size() != 0) && !done.contains(source);
}

uint64_t split_assigner::least(const pace& of, time_point now) const {
  const auto took = std::max<duration>(now - of.last_at, duration{1});
  if (took <= least_lease_time)
    return of.last_count;
  return static_cast<uint64_t>(static_cast<double>(of.last_count)
                               * static_cast<double>(least_lease_time.count())
                               / static_cast<double>(took.count()));
}

uint64_t split_assigner::paced(const pace& of, time_point now) const {
  if (of.last_count == 0)
    return 1;
  const auto most = of.last_count > std::numeric_limits<uint64_t>::max() / most_growth
                      ? std::numeric_limits<uint64_t>::max()
                      : of.last_count * most_growth;
  const auto took = std::max<duration>(now - of.last_at, duration{1});
  const auto fits = static_cast<double>(of.last_count) * static_cast<double>(lease_time.count())
                    / static_cast<double>(took.count());
  return fits >= static_cast<double>(most) ? most
                                           : std::max<uint64_t>(static_cast<uint64_t>(fits), 1);
}

// -- decisions ----------------------------------------------------------------------

std::optional<uint64_t> split_assigner::total_of(key where) const {
  if (auto at = passes_.find(where); at != passes_.end())
    return at->second.total;
  auto g = groups_.find(where.second);
  return g != groups_.end() ? g->second.total : std::nullopt;
}

std::optional<split_assigner::fact> split_assigner::note(const lease_request& wanted) const {
  const key where{wanted.pass, group_of(wanted.source)};
  const auto g = groups_.find(where.second);
  if (g != groups_.end() && wanted.pass < g->second.passes_over && !passes_.contains(where))
    return {};
  const auto holders = holdings_.find(where);
  const bool known = g != groups_.end() && holders != holdings_.end()
                     && holders->second.contains(wanted.task)
                     && g->second.at.contains({wanted.task, wanted.source})
                     && g->second.at.at({wanted.task, wanted.source}) >= wanted.pass;
  const auto total = total_of(where);
  if (known && (!wanted.total || (total && *total <= *wanted.total)))
    return {};
  return came_to{wanted.task, wanted.source, wanted.pass, wanted.total};
}

std::optional<split_assigner::leased_to> split_assigner::decide(const lease_request& wanted,
                                                                const std::set<task_id>& blocked,
                                                                time_point now) const {
  leased_to out{wanted.task, wanted.source, wanted.pass, wanted.number, {}};
  if (auto last = answered_.find({wanted.task, wanted.source});
      wanted.number && last != answered_.end() && last->second.pass == wanted.pass
      && last->second.number == *wanted.number) {
    out.splits = last->second.splits;
    return out;
  }
  const key where{wanted.pass, group_of(wanted.source)};
  const auto pass = passes_.find(where);
  if (pass == passes_.end())
    return out; // over
  const auto& g = groups_.at(where.second);
  const auto& holders = holdings_.at(where);
  const auto mine = holders.find(wanted.task);
  if (mine == holders.end())
    return {};
  // What other sources of the group were told already.
  const auto& [ranges, dropped, end, given, done] = mine->second;
  const auto& [next, total, returned] = pass->second;
  const auto already = given.find(wanted.source);
  if (const auto told = already != given.end() ? already->second : 0;
      told < dropped + ranges.size()) {
    out.splits = ranges[told - dropped];
    // Another source may have shown since that there are fewer.
    if (total && out.splits->first + out.splits->count > *total)
      out.splits->count = *total - std::min(*total, out.splits->first);
    if (out.splits->count == 0)
      out.splits.reset();
    return out;
  }
  // Past the end of a source that advances with it, what comes back is out of step.
  if (total && end > *total)
    return out;
  const auto fresh =
    total ? *total - std::min(*total, next) : std::numeric_limits<uint64_t>::max() - next;
  const auto remaining = returned.empty() ? fresh : returned.front().count;
  if (remaining != 0) {
    const auto share = 2 * std::max<uint64_t>(tasks_, 1);
    const auto known = g.paces.find(wanted.task);
    const auto speed = known != g.paces.end() ? known->second : pace{};
    // Without a known end there is nothing to share out: one at a time, until the end shows.
    const auto guided = std::max(remaining / share + (remaining % share != 0), least(speed, now));
    auto count = total ? std::min({guided, paced(speed, now), remaining}) : 1;
    if (g.in_pairs)
      count = std::min(count, most_unaligned);
    out.splits = split_range{returned.empty() ? next : returned.front().first, count};
    return out;
  }
  const bool unread_elsewhere = std::any_of(holders.begin(), holders.end(), [&](const auto& entry) {
    return entry.first != wanted.task && !blocked.contains(entry.first)
           && entry.second.unread(wanted.source);
  });
  return unread_elsewhere ? std::nullopt : std::optional{out};
}

std::optional<split_assigner::fact> split_assigner::give_back(task_id task,
                                                              const unread_splits& unread) const {
  const auto last = answered_.find({task, unread.source});
  if (last == answered_.end() || last->second.pass != unread.pass || !last->second.splits)
    return {};
  const auto& leased = *last->second.splits;
  if (last->second.number > unread.answered) // not heard
    return returned{unread.source, unread.pass, leased};
  const auto& rest = unread.rest;
  if (last->second.number < unread.answered || rest.count == 0 || rest.count > leased.count
      || rest.first != leased.first + (leased.count - rest.count))
    return {};
  return returned{unread.source, unread.pass, rest};
}

void split_assigner::keep_pace(const leased_to& given, time_point now) {
  if (!given.splits)
    return;
  auto& speed = groups_.at(group_of(given.source)).paces[given.task];
  speed.last_count = given.splits->count;
  speed.last_at = now;
}

// -- facts ----------------------------------------------------------------------------

void split_assigner::apply(const fact& what) {
  std::visit([this](const auto& x) { on(x); }, what);
}

void split_assigner::on(const shared_by& x) { tasks_ = x.tasks; }

void split_assigner::on(const came_to& x) {
  const key where{x.pass, group_of(x.source)};
  auto& g = group(where.second, x.source);
  // A zip that ended with its shorter side never asks the longer one for its end.
  auto& from = g.at[{x.task, x.source}];
  for (auto at = holdings_.lower_bound({from, 0}); at != holdings_.lower_bound({x.pass, 0}); ++at)
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
  holdings_[where][x.task].given[x.source];
}

void split_assigner::on(const leased_to& x) {
  if (x.number) {
    auto& last = answered_[{x.task, x.source}];
    const answered now{x.pass, *x.number, x.splits};
    if (std::exchange(last, now) == now)
      return; // told again
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
  const auto pass = passes_.find({x.pass, group_of(x.source)});
  if (pass == passes_.end())
    return;
  pass->second.returned.push_back(x.splits);
  if (const auto total = pass->second.total)
    pass->second.end_at(*total);
  leased_ -= x.splits.count;
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
  *from = {from->first + splits.count, from->count - splits.count};
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
  // In order, so that one number says which are over.
  for (;;) {
    const auto at = passes_.find({g.passes_over, where.second});
    if (at == passes_.end())
      return;
    auto& [next, total, returned] = at->second;
    const bool all_read = total && next >= *total;
    const bool all_left = holdings_[at->first].size() >= tasks_;
    if ((!all_read && !all_left) || !all_done(at->first))
      return;
    ++g.passes_over;
    holdings_.erase(at->first);
    if (returned.empty())
      passes_.erase(at);
    else
      total = next; // what is left of it is what came back
  }
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
  return std::ranges::any_of(passes_,
                             [](const auto& entry) { return !entry.second.returned.empty(); });
}

size_t split_assigner::records() const noexcept {
  auto n = passes_.size() + answered_.size();
  for (const auto& [where, holders] : holdings_)
    for (const auto& [who, h] : holders) n += 1 + h.ranges.size();
  for (const auto& [where, pass] : passes_) n += pass.returned.size();
  for (const auto& [number, g] : groups_) n += 1 + g.at.size();
  return n;
}

} // namespace headrace
