#include "headrace/actors/job/splits/split_assigner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace headrace::detail {

namespace {

/// The most splits in one lease of a source that a zip reads together with sources of other groups.
/// Small leases let all of these sources advance at about the same pace.
constexpr uint64_t most_unaligned = 8;
constexpr uint64_t most_growth = 8;

} // namespace

split_assigner::split_assigner(const split_plan& plan) : plan_(plan) {
  for (uint32_t i = 0; i < plan_.sources.size(); ++i) {
    const auto& source = plan_.sources[i];
    auto& g = groups_[source.group];
    g.sources.push_back(i);
    g.in_pairs = g.sources.size() == 1 && source.zipped;
    // Sources that advance together end with the shortest of them.
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
  if (g.sources.empty()) // a source that is not in the plan
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
  // A task whose listing differs is refused, so its total is not used.
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
  // The pass that runs now, or an earlier pass of which splits were returned.
  auto running = groups_.at(where.second).passes_over;
  for (auto at = passes_.lower_bound(where); at != passes_.end() && at->first.first < running; ++at)
    if (at->first.second == where.second)
      running = at->first.first;
  return {.running = running};
}

uint64_t split_assigner::size_of(const group_state& g, task_id task, bool has_end, uint64_t left,
                                 time_point now) const {
  // Without a known total, splits are leased one at a time.
  if (!has_end)
    return 1;
  const auto share = 2 * std::max<uint64_t>(tasks_, 1);
  const auto known = g.paces.find(task);
  const auto speed = known != g.paces.end() ? known->second : pace{};
  const auto guided = std::max(left / share + (left % share != 0), least(speed, now));
  const auto count = std::min({guided, paced(speed, now), left});
  return g.in_pairs ? std::min(count, most_unaligned) : count;
}

std::vector<split_assigner::leased_to> split_assigner::decide(const lease_request& wanted,
                                                              const std::set<task_id>& beside,
                                                              time_point now) const {
  std::vector<leased_to> out;
  const size_t most = wanted.number ? most_pieces : 1;
  const auto give = [&](const split_answer& what) {
    auto number = wanted.number;
    if (number)
      *number += out.size();
    out.push_back({wanted.task, wanted.source, wanted.pass, number, what, !out.empty()});
  };
  if (const auto last = answered_.find({wanted.task, wanted.source});
      wanted.number && last != answered_.end())
    while (const auto* again = last->second.find(wanted.pass, *wanted.number + out.size()))
      give(*again);
  if (!out.empty())
    return out;
  const key where{wanted.pass, group_of(wanted.source)};
  const auto over = [&] {
    give(over_for(wanted.task, where));
    return out;
  };
  const auto pass = passes_.find(where);
  if (pass == passes_.end())
    return over();
  const auto& g = groups_.at(where.second);
  const auto& holders = holdings_.at(where);
  const auto mine = holders.find(wanted.task);
  if (mine == holders.end())
    return {};
  // Ranges that other sources of the group were already sent come first.
  const auto& [ranges, dropped, end, given, done] = mine->second;
  const auto& next = pass->second.next;
  const auto& total = pass->second.total;
  const auto& returned = pass->second.returned;
  const auto already = given.find(wanted.source);
  const auto told = already != given.end() ? already->second : 0;
  // Ranges that this source was not sent were dropped: the task has closed the pass for the group.
  if (told < dropped)
    return over();
  for (auto at = told - dropped; at < ranges.size() && out.size() < most; ++at) {
    auto piece = ranges[at];
    // Since the range was leased the total may have become known, or smaller.
    if (total && piece.first + piece.count > *total)
      piece.count = *total - std::min(*total, piece.first);
    if (piece.count == 0)
      return out.empty() ? over() : out;
    give(piece);
  }
  if (!out.empty())
    return out;
  // The last range goes beyond the end of the pass, so some sources of the group may have been sent
  // more of its splits than other sources: the next splits of these sources would not match.
  if (total && end > *total)
    return over();
  if (!returned.empty()) {
    uint64_t left = 0;
    for (const auto& piece : returned) left += piece.count;
    auto count = size_of(g, wanted.task, total.has_value(), left, now);
    for (auto at = returned.begin(); at != returned.end() && count != 0 && out.size() < most;
         ++at) {
      give(split_range{at->first, std::min(at->count, count)});
      count -= out.back().splits->count;
    }
    return out;
  }
  if (const auto fresh =
        total ? *total - std::min(*total, next) : std::numeric_limits<uint64_t>::max() - next;
      fresh != 0) {
    give(split_range{next, size_of(g, wanted.task, total.has_value(), fresh, now)});
    return out;
  }
  if (!this->holders(wanted, beside).empty())
    return {};
  return over();
}

bool split_assigner::has_given(const leased_to& what) const {
  const auto last = answered_.find({what.task, what.source});
  if (!what.number || last == answered_.end())
    return false;
  const auto* before = last->second.find(what.pass, *what.number);
  return before != nullptr && *before == what.splits;
}

std::vector<task_id> split_assigner::holders(const lease_request& wanted,
                                             const std::set<task_id>& beside) const {
  std::vector<task_id> out;
  if (const auto at = holdings_.find({wanted.pass, group_of(wanted.source)}); at != holdings_.end())
    for (const auto& [task, holding] : at->second)
      if (task != wanted.task && !beside.contains(task) && holding.unread(wanted.source))
        out.push_back(task);
  return out;
}

std::vector<split_assigner::fact> split_assigner::close(task_id task,
                                                        const unread_splits& unread) const {
  const key where{unread.pass, group_of(unread.source)};
  const auto holders = holdings_.find(where);
  if (holders == holdings_.end() || !holders->second.contains(task))
    return {};
  std::vector<fact> out;
  for (auto& back : give_back(task, unread)) {
    back.kept = false;
    out.emplace_back(back);
  }
  if (!out.empty()
      || holders->second.at(task).done.size() < groups_.at(where.second).sources.size())
    out.push_back(closed{task, unread.source, unread.pass});
  return out;
}

std::vector<split_assigner::returned> split_assigner::give_back(task_id task,
                                                                const unread_splits& unread) const {
  const auto last = answered_.find({task, unread.source});
  if (last == answered_.end() || last->second.pass != unread.pass)
    return {};
  return pieces_from(task, unread, last->second);
}

std::vector<split_assigner::returned> split_assigner::leave(task_id task,
                                                            const unread_splits& unread) const {
  // The task reports about the source of the group that it has read furthest. The last answer may
  // have been sent to another source of the group, or for a later pass, and may not have reached
  // the task.
  const answered* last = nullptr;
  auto known = unread;
  for (const auto& [whose, given] : answered_) {
    const auto& [who, source] = whose;
    if (who != task || group_of(source) != group_of(unread.source)
        || (last != nullptr && !last->is_before(given)))
      continue;
    last = &given;
    known.source = source;
  }
  if (last == nullptr || last->pass < unread.pass)
    return {};
  if (last->pass > unread.pass)
    known = {known.source, last->pass, 0, {}};
  return pieces_from(task, known, *last);
}

std::vector<split_assigner::returned>
split_assigner::pieces_from(task_id task, const unread_splits& unread, const answered& last) const {
  // If the task has closed that pass or was sent its end, it has already given back its unread
  // splits.
  const auto holders = holdings_.find({unread.pass, group_of(unread.source)});
  if (holders == holdings_.end() || !holders->second.contains(task)
      || holders->second.at(task).done.contains(unread.source))
    return {};
  std::vector<returned> out;
  const auto is_tail = [&rest = unread.rest](const split_range& of) {
    return rest.count != 0 && rest.count <= of.count
           && rest.first == of.first + (of.count - rest.count);
  };
  const auto& [pass, first, pieces] = last;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto& piece = pieces[i];
    if (!piece)
      continue;
    if (first + i >= unread.answered) // the task has not begun this piece
      out.push_back({unread.source, unread.pass, *piece});
    else if (first + i + 1 == unread.answered && is_tail(*piece))
      out.push_back({unread.source, unread.pass, unread.rest});
  }
  return out;
}

void split_assigner::keep_pace(const std::vector<leased_to>& given, time_point now) {
  if (given.empty() || !given.front().splits)
    return;
  auto& speed = groups_.at(group_of(given.front().source)).paces[given.front().task];
  speed.last_count = 0;
  for (const auto& piece : given) speed.last_count += piece.splits->count;
  speed.last_at = now;
}

} // namespace headrace::detail
