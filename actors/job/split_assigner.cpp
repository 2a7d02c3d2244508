#include "headrace/actors/job/split_assigner.hpp"

#include <algorithm>
#include <limits>

namespace headrace {

namespace {

/// Sources under one zip that do not advance together are read at about the same pace: small leases keep them close.
constexpr uint64_t most_unaligned = 8;

} // namespace

split_assigner::split_assigner(const split_plan& plan) : plan_(plan) {
  // Sources that advance together end with the shortest.
  for (const auto& source : plan_.sources)
    if (source.splits) {
      auto& total = group_totals_[source.group];
      total = total ? std::min(*total, *source.splits) : *source.splits;
    }
}

uint32_t split_assigner::group_of(uint32_t source) const noexcept {
  return source < plan_.sources.size() ? plan_.sources[source].group
                                       : static_cast<uint32_t>(plan_.groups + source);
}

bool split_assigner::holding::unread(uint32_t source) const {
  auto at = given.find(source);
  return at != given.end() && at->second != 0 && !done.contains(source);
}

split_assigner::outcome split_assigner::lease(const lease_request& wanted, const std::set<task_id>& blocked) {
  const key where{wanted.pass, group_of(wanted.source)};
  auto [at, fresh] = passes_.try_emplace(where);
  auto& pass = at->second;
  if (auto known = group_totals_.find(where.second); fresh && known != group_totals_.end())
    pass.total = known->second;
  if (wanted.total)
    pass.total = pass.total ? std::min(*pass.total, *wanted.total) : *wanted.total;
  auto& holders = holdings_[where];
  auto& mine = holders[wanted.task];
  auto& told = mine.given[wanted.source];
  if (told < mine.ranges.size())
    return {false, mine.ranges[told++]};

  const auto remaining = pass.total ? *pass.total - std::min(*pass.total, pass.next)
                                    : std::numeric_limits<uint64_t>::max() - pass.next;
  if (remaining != 0) {
    const auto share = 2 * std::max<uint64_t>(tasks_, 1);
    // Without a known end there is nothing to share out: one at a time, until the end shows.
    auto count = pass.total ? (remaining + share - 1) / share : 1;
    if (in_pairs(where.second))
      count = std::min(count, most_unaligned);
    const split_range range{pass.next, count};
    pass.next += count;
    leased_ += count;
    mine.ranges.push_back(range);
    ++told;
    return {false, range};
  }
  const bool unread_elsewhere = std::any_of(holders.begin(), holders.end(), [&](const auto& entry) {
    return entry.first != wanted.task && !blocked.contains(entry.first) && entry.second.unread(wanted.source);
  });
  if (unread_elsewhere)
    return {true, {}};
  mine.done.insert(wanted.source);
  return {false, std::nullopt};
}

void split_assigner::task_gone(task_id who) {
  for (auto& [where, holders] : holdings_)
    holders.erase(who);
}

bool split_assigner::in_pairs(uint32_t group) const noexcept {
  const auto members = std::count_if(plan_.sources.begin(), plan_.sources.end(),
                                     [&](const auto& source) { return source.group == group; });
  return members == 1 && std::any_of(plan_.sources.begin(), plan_.sources.end(), [&](const auto& source) {
           return source.group == group && source.zipped;
         });
}

} // namespace headrace
