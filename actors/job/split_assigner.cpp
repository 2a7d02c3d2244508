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

split_assigner::outcome split_assigner::lease(const lease_request& wanted,
                                              const std::set<task_id>& blocked, time_point now) {
  const std::pair asked{wanted.task, wanted.source};
  if (auto last = answered_.find(asked); wanted.number && last != answered_.end()
                                         && last->second.pass == wanted.pass
                                         && last->second.number == *wanted.number)
    return {false, last->second.splits};
  const auto out = decide(wanted, blocked, now);
  if (!out.wait && wanted.number)
    answered_[asked] = {wanted.pass, *wanted.number, out.splits};
  return out;
}

split_assigner::outcome split_assigner::decide(const lease_request& wanted,
                                               const std::set<task_id>& blocked, time_point now) {
  const key where{wanted.pass, group_of(wanted.source)};
  auto& g = group(where.second, wanted.source);
  leave_earlier_passes(g, wanted);
  if (wanted.pass < g.passes_over)
    return {false, std::nullopt};
  auto [at, fresh] = passes_.try_emplace(where);
  auto& pass = at->second;
  if (fresh)
    pass.total = g.total;
  if (wanted.total)
    pass.total = pass.total ? std::min(*pass.total, *wanted.total) : *wanted.total;
  auto& holders = holdings_[where];
  auto& mine = holders[wanted.task];
  auto& told = mine.given[wanted.source];
  if (told < mine.dropped + mine.ranges.size()) {
    const auto range = mine.ranges[told++ - mine.dropped];
    uint64_t everybody = told;
    for (auto source : g.sources) everybody = std::min(everybody, mine.given[source]);
    for (; mine.dropped < everybody; ++mine.dropped) mine.ranges.pop_front();
    return {false, range};
  }

  const auto remaining = pass.total ? *pass.total - std::min(*pass.total, pass.next)
                                    : std::numeric_limits<uint64_t>::max() - pass.next;
  if (remaining != 0) {
    const auto share = 2 * std::max<uint64_t>(tasks_, 1);
    auto& speed = g.paces[wanted.task];
    // Without a known end there is nothing to share out: one at a time, until the end shows.
    const auto guided = std::max(remaining / share + (remaining % share != 0), least(speed, now));
    auto count = pass.total ? std::min({guided, paced(speed, now), remaining}) : 1;
    if (g.in_pairs)
      count = std::min(count, most_unaligned);
    const split_range range{pass.next, count};
    pass.next += count;
    leased_ += count;
    speed.last_count = count;
    speed.last_at = now;
    ++told;
    if (g.sources.size() == 1)
      ++mine.dropped;
    else
      mine.ranges.push_back(range);
    return {false, range};
  }
  const bool unread_elsewhere = std::any_of(holders.begin(), holders.end(), [&](const auto& entry) {
    return entry.first != wanted.task && !blocked.contains(entry.first)
           && entry.second.unread(wanted.source);
  });
  if (unread_elsewhere)
    return {true, {}};
  mine.done.insert(wanted.source);
  forget_if_over(where);
  return {false, std::nullopt};
}

void split_assigner::leave_earlier_passes(group_state& g, const lease_request& wanted) {
  // A zip that ended with its shorter side never asks the longer one for its end.
  auto& from = g.paces[wanted.task].pass[wanted.source];
  if (from >= wanted.pass)
    return;
  const auto number = group_of(wanted.source);
  for (auto pass = std::max(from, g.passes_over); pass < wanted.pass; ++pass)
    if (auto at = holdings_.find({pass, number}); at != holdings_.end())
      if (auto mine = at->second.find(wanted.task); mine != at->second.end())
        mine->second.done.insert(wanted.source);
  from = wanted.pass;
  forget_if_over({g.passes_over, number});
}

void split_assigner::forget_if_over(key where) {
  auto& g = groups_.at(where.second);
  // In order, so that one number says which are over.
  for (;;) {
    const auto at = passes_.find({g.passes_over, where.second});
    if (at == passes_.end())
      return;
    const auto& holders = holdings_[at->first];
    const bool all_read = at->second.total && at->second.next >= *at->second.total;
    const bool all_left = holders.size() >= tasks_;
    if ((!all_read && !all_left)
        || std::any_of(holders.begin(), holders.end(), [&](const auto& entry) {
             return entry.second.done.size() < g.sources.size();
           }))
      return;
    holdings_.erase(at->first);
    passes_.erase(at);
    ++g.passes_over;
  }
}

void split_assigner::task_gone(task_id who) {
  for (auto& [where, holders] : holdings_) holders.erase(who);
  for (auto& [number, g] : groups_) g.paces.erase(who);
  std::erase_if(answered_, [&](const auto& entry) { return entry.first.first == who; });
}

size_t split_assigner::records() const noexcept {
  auto n = passes_.size() + answered_.size();
  for (const auto& [where, holders] : holdings_)
    for (const auto& [who, h] : holders) n += 1 + h.ranges.size();
  for (const auto& [number, g] : groups_) n += 1 + g.paces.size();
  return n;
}

} // namespace headrace
