#include "headrace/actors/job/split_assigner.hpp"

#include <fmt/format.h>

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

bool split_assigner::keeps_passes(task_id task) const {
  return std::ranges::any_of(answered_, [&](const auto& entry) {
    const auto& [who, source] = entry.first;
    return who == task && source < plan_.sources.size() && plan_.sources[source].kept;
  });
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
  const auto pass = passes_.find(where);
  const bool first_to_list =
    wanted.listing && (pass == passes_.end() || !pass->second.listings.contains(wanted.source));
  if (known && !first_to_list && (!wanted.total || (total && *total <= *wanted.total)))
    return {};
  // What was found by one whose listing is another says nothing of this one.
  if (!first_to_list && !refused(wanted, {}).ok())
    return {};
  came_to out{wanted.task, wanted.source, wanted.pass, wanted.total};
  if (first_to_list)
    out.listing = *wanted.listing;
  return out;
}

status split_assigner::refused(const lease_request& wanted, std::string_view who) const {
  const auto pass = passes_.find({wanted.pass, group_of(wanted.source)});
  if (!wanted.listing || pass == passes_.end())
    return {};
  const auto first = pass->second.listings.find(wanted.source);
  if (first == pass->second.listings.end() || first->second.digest == wanted.listing->digest)
    return {};
  const auto& [digest, count, entries] = first->second;
  const auto& found = *wanted.listing;
  std::string where = fmt::format("{} there, {} here", count, found.count);
  if (!entries.empty() && !found.entries.empty()) {
    const auto [a, b] = std::ranges::mismatch(entries, found.entries);
    where += fmt::format("; the first that differs is {} there and {} here",
                         a == entries.end() ? "none" : *a, b == found.entries.end() ? "none" : *b);
  }
  return failed_precondition(fmt::format(
    "worker {} finds other files for source {} ({}) than the worker that began pass {} of it: {}. "
    "Workers share what a source finds by its number, so all must find the same while they read it",
    who, wanted.source,
    to_string(wanted.source < plan_.sources.size() ? plan_.sources[wanted.source].op
                                                   : dataset_op::list_files),
    wanted.pass, where));
}

pass_over split_assigner::over_for(task_id task, key where) const {
  const auto pass = passes_.find(where);
  if (pass != passes_.end())
    return {.alone =
              !pass->second.shared && (!pass->second.reader || *pass->second.reader == task)};
  // Which one runs now, or was left with something to read.
  auto running = groups_.at(where.second).passes_over;
  for (auto at = passes_.lower_bound(where); at != passes_.end() && at->first.first < running; ++at)
    if (at->first.second == where.second)
      running = at->first.first;
  return {.running = running};
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
  if (pass == passes_.end()) {
    out.splits.over = over_for(wanted.task, where);
    return out;
  }
  const auto& g = groups_.at(where.second);
  const auto& holders = holdings_.at(where);
  const auto mine = holders.find(wanted.task);
  if (mine == holders.end())
    return {};
  // What other sources of the group were told already.
  const auto& [ranges, dropped, end, given, done] = mine->second;
  const auto& next = pass->second.next;
  const auto& total = pass->second.total;
  const auto& returned = pass->second.returned;
  const auto already = given.find(wanted.source);
  const auto told = already != given.end() ? already->second : 0;
  // It has closed the pass for all sources of the group, or asks for one that is none of them.
  if (told < dropped) {
    out.splits.over = over_for(wanted.task, where);
    return out;
  }
  if (told - dropped < ranges.size()) {
    out.splits = ranges[told - dropped];
    // Another source may have shown since that there are fewer.
    if (total && out.splits->first + out.splits->count > *total)
      out.splits->count = *total - std::min(*total, out.splits->first);
    if (out.splits->count == 0) {
      out.splits.splits.reset();
      out.splits.over = over_for(wanted.task, where);
    }
    return out;
  }
  // Past the end of a source that advances with it, what comes back is out of step.
  if (total && end > *total) {
    out.splits.over = over_for(wanted.task, where);
    return out;
  }
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
  if (unread_elsewhere)
    return {};
  out.splits.over = over_for(wanted.task, where);
  return out;
}

std::vector<split_assigner::fact> split_assigner::close(task_id task,
                                                        const unread_splits& unread) const {
  const key where{unread.pass, group_of(unread.source)};
  const auto holders = holdings_.find(where);
  if (holders == holdings_.end() || !holders->second.contains(task))
    return {};
  std::vector<fact> out;
  if (auto back = give_back(task, unread)) {
    std::get<returned>(*back).kept = false;
    out.push_back(*std::move(back));
  }
  if (!out.empty()
      || holders->second.at(task).done.size() < groups_.at(where.second).sources.size())
    out.push_back(closed{task, unread.source, unread.pass});
  return out;
}

std::optional<split_assigner::fact> split_assigner::give_back(task_id task,
                                                              const unread_splits& unread) const {
  const auto last = answered_.find({task, unread.source});
  if (last == answered_.end() || last->second.pass != unread.pass || !last->second.splits)
    return {};
  // It is done with that pass, and has given back what it had.
  const auto holders = holdings_.find({unread.pass, group_of(unread.source)});
  if (holders == holdings_.end() || !holders->second.contains(task)
      || holders->second.at(task).done.contains(unread.source))
    return {};
  const auto& leased = *last->second.splits;
  if (last->second.number >= unread.answered) // not heard
    return returned{unread.source, unread.pass, leased};
  const auto& rest = unread.rest;
  if (last->second.number + 1 < unread.answered || rest.count == 0 || rest.count > leased.count
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

} // namespace headrace
