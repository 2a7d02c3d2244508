#include "headrace/actors/job/splits/lease_history.hpp"

#include <algorithm>
#include <utility>

namespace headrace::detail {

namespace {

struct range {
  uint64_t first = 0, end = 0;
};
/// The most passes by which the sources of one group may differ in a task.
constexpr uint64_t passes_at_a_time = 4;

using ranges_by_pass = std::map<std::pair<uint64_t, uint32_t>, std::vector<range>>;

range range_of(const split_range& x) { return {x.first, x.first + x.count}; }

/// Calls `part(first, end, inside)` for each piece of `whole`, in order. A piece is inside one of
/// `cuts`, or outside of all.
template <class F>
void cut(range whole, const std::vector<range>& cuts, F&& part) {
  auto at = std::ranges::upper_bound(cuts, whole.first, {}, &range::end);
  for (auto from = whole.first; from < whole.end;) {
    if (at == cuts.end() || at->first >= whole.end) {
      part(from, whole.end, false);
      return;
    }
    if (at->first > from)
      part(from, at->first, false);
    const auto stop = std::min(at->end, whole.end);
    part(std::max(from, at->first), stop, true);
    from = stop;
    ++at;
  }
}

/// Sorts the ranges, joins those that overlap or touch, and removes empty ones.
void straighten(std::vector<range>& all) {
  std::ranges::sort(all, {}, &range::first);
  std::vector<range> out;
  for (const auto& x : all)
    if (x.first == x.end)
      continue;
    else if (!out.empty() && x.first <= out.back().end)
      out.back().end = std::max(out.back().end, x.end);
    else
      out.push_back(x);
  all = std::move(out);
}

} // namespace

lease_history::lease_history(const split_plan& plan, delivery_guarantee guarantee, bool rounds)
  : rows_(plan.rows), guarantee_(guarantee), rounds_(rounds) {
  std::map<uint32_t, uint32_t> first;
  for (uint32_t i = 0; i < plan.sources.size(); ++i)
    first_of_group_.push_back(first.try_emplace(plan.sources[i].group, i).first->second);
}

uint32_t lease_history::first_of_group(uint32_t source) const {
  return source < first_of_group_.size() ? first_of_group_[source] : source;
}

// -- facts ----------------------------------------------------------------------------

void lease_history::apply(const fact& what) {
  std::visit([this](const auto& x) { on(x); }, what);
}

void lease_history::apply(const split_assigner::fact& what) {
  if (const auto* given = std::get_if<split_assigner::leased_to>(&what))
    leased(*given);
  else if (const auto* back = std::get_if<split_assigner::returned>(&what)) {
    // With `back->kept`, the splits come from a task that ends or is settled in the same group of
    // facts. Its leases are removed then, and the splits with them, unless readers hold rows of it,
    // or it leaves coordinated reads and is declared lost next: then they are removed here.
    const bool leaves = rounds_ && std::ranges::none_of(lost_, [](const auto& entry) {
                          return entry.second.empty();
                        });
    if (!back->kept)
      given_back(*back, [](task_id) { return true; });
    else if (leaves || !kept_.empty())
      given_back(*back,
                 [&](task_id id) { return (leaves || kept_.contains(id)) && !lost_.contains(id); });
  } else if (const auto* gone = std::get_if<split_assigner::task_gone>(&what)) {
    if (!kept_.contains(gone->task))
      tasks_.erase(gone->task);
  }
}

void lease_history::leased(const split_assigner::leased_to& x) {
  if (!x.splits)
    return;
  auto& of = tasks_[x.task];
  auto& all = of.all;
  const auto source = first_of_group(x.source);
  if (x.number) {
    // Sources of one group get the same answers, each to its own question.
    auto& answered = of.answered[{source, x.pass}];
    if (*x.number < answered)
      return;
    answered = *x.number + 1;
    for (auto at = of.answered.lower_bound({source, 0});
         at->first.second < x.pass && x.pass - at->first.second > passes_at_a_time;)
      at = of.answered.erase(at);
  } else if (source != x.source) {
    return;
  }
  const auto& splits = *x.splits;
  // Until the task is informed that a reader is gone, it may still deal rows to that reader.
  const auto held = of.untold != 0 ? held_by::perhaps : held_by::nobody;
  if (!all.empty() && all.back().at == held && all.back().splits.source == source
      && all.back().splits.pass == x.pass
      && range_of(all.back().splits.splits).end == splits.first) {
    all.back().splits.splits.count += splits.count;
    return;
  }
  all.push_back({{source, x.pass, splits}, held});
  const auto most = std::max(least_leases, most_leases / tasks_.size());
  for (; all.size() > most; all.pop_front())
    if (at_least_once())
      of.forgotten += all.front().splits.splits.count;
}

template <class Whose>
void lease_history::given_back(const split_assigner::returned& x, Whose whose) {
  const auto source = first_of_group(x.source);
  const std::vector<range> back{range_of(x.splits)};
  for (auto& [id, of] : tasks_) {
    if (!whose(id))
      continue;
    std::deque<lease> stay;
    for (const auto& one : of.all) {
      if (one.splits.source != source || one.splits.pass != x.pass) {
        stay.push_back(one);
        continue;
      }
      cut(range_of(one.splits.splits), back, [&](uint64_t first, uint64_t end, bool inside) {
        if (!inside)
          stay.push_back({{source, x.pass, {first, end - first}}, one.at});
      });
    }
    of.all = std::move(stay);
  }
}

void lease_history::on(const lost& x) {
  lost_[x.task] = {x.readers.begin(), x.readers.end()};
  const auto known = tasks_.find(x.task);
  if (known == tasks_.end())
    return;
  // Receipts of the present readers will show more than `newest`, which is of readers that left.
  if (!x.readers.empty())
    known->second.newest.clear();
  // The account that the task would have sent is lost with the task.
  for (auto& one : known->second.all)
    if (one.at == held_by::perhaps)
      one.at = held_by::unknown;
}

void lease_history::mark(task_leases& of, const split_receipt& what) const {
  ranges_by_pass reached;
  for (const auto& run : what.reached)
    reached[{run.pass, first_of_group(run.source)}].push_back(range_of(run.splits));
  for (auto& [where, all] : reached) straighten(all);
  // A receipt may include the splits of rows that were given back. Under at_least_once, all splits
  // of such a receipt count as unknown.
  const bool names_them = what.given_back != 0 && !what.without_given_back;
  const bool uncertain = what.approximate || (at_least_once() && names_them);
  std::deque<lease> marked;
  for (const auto& one : of.all) {
    if (one.at == held_by::reader) {
      marked.push_back(one);
      continue;
    }
    if (one.splits.pass < what.from_pass) {
      marked.push_back({one.splits, held_by::unknown});
      continue;
    }
    const auto came = reached.find({one.splits.pass, one.splits.source});
    cut(range_of(one.splits.splits), came != reached.end() ? came->second : std::vector<range>{},
        [&](uint64_t first, uint64_t end, bool inside) {
          marked.push_back({{one.splits.source, one.splits.pass, {first, end - first}},
                            !inside     ? one.at
                            : uncertain ? held_by::unknown
                                        : held_by::reader});
        });
  }
  of.all = std::move(marked);
}

void lease_history::on(const received& x) {
  const auto awaited = lost_.find(x.what.task);
  if (awaited != lost_.end())
    awaited->second.erase(x.who);
  const auto known = tasks_.find(x.what.task);
  if (known == tasks_.end())
    return;
  auto& of = known->second;
  mark(of, x.what);
  if (!x.what.without_given_back)
    of.given_back += x.what.given_back;
  // The newest row does not show that all earlier rows have arrived if rows were given back, as
  // these go to other readers. A receipt without a newest row shows nothing about the order.
  of.out_of_order |= x.what.given_back != 0 || !x.what.newest;
  // A receipt for a living task comes from a reader that leaves. The rows that this reader had not
  // handed out go to others, so its newest row is not recorded, except in coordinated reads.
  if (x.what.newest && (rounds_ || awaited != lost_.end())) {
    of.newest.push_back(*x.what.newest);
    of.newest.back().source = first_of_group(of.newest.back().source);
  }
}

void lease_history::on(const unheard& x) {
  for (auto& [id, of] : tasks_) {
    const auto awaited = lost_.find(id);
    const bool lives = awaited == lost_.end();
    if (!lives && awaited->second.erase(x.who) == 0)
      continue; // the reader has sent its receipt
    for (auto& one : of.all)
      if (one.at == held_by::nobody)
        one.at = lives ? held_by::perhaps : held_by::unknown;
    if (lives)
      of.untold = std::max(of.untold, x.version);
    // The rows that the reader held go to others, or, if the task is lost, are lost: so rows before
    // the newest ones may be missing. In coordinated reads the job counts the lost rows as
    // elements, so they matter here only while the task lives and if splits can be read again.
    of.out_of_order |= !rounds_ || (lives && rows_.apart);
  }
  for (auto& [id, waits] : lost_) waits.erase(x.who);
}

void lease_history::on(const given& x) {
  const auto known = tasks_.find(x.task);
  if (known == tasks_.end())
    return;
  auto& of = known->second;
  const auto lost = std::max(of.lost_elements, x.lost);
  losses_.elements += lost - std::exchange(of.lost_elements, lost);
  if (x.version < of.untold)
    return;
  of.untold = 0;
  mark(of, x.what);
  for (auto& one : of.all)
    if (one.at == held_by::perhaps)
      one.at = held_by::nobody;
}

void lease_history::on(const settled& x) {
  lost_.erase(x.task);
  if (!kept_.contains(x.task))
    tasks_.erase(x.task);
  losses_ += x.lost;
}

// -- decisions --------------------------------------------------------------------------

bool lease_history::awaits(task_id task, consumer_id who) const {
  const auto at = lost_.find(task);
  return at != lost_.end() && at->second.contains(who);
}

lease_history::place lease_history::first_doubtful(const task_leases& of) const {
  const place all{0, 0};
  if (!rows_.in_order || of.out_of_order || of.newest.empty())
    return all;
  place out{of.all.size(), 0};
  for (const auto& newest : of.newest) {
    const auto at = std::ranges::find_if(of.all, [&](const lease& x) {
      const auto [first, end] = range_of(x.splits.splits);
      return x.splits.source == newest.source && x.splits.pass == newest.pass
             && first <= newest.splits.first && newest.splits.first < end;
    });
    if (at == of.all.end()) // the lease is older than all remembered ones
      return all;
    out = std::min(out, {static_cast<size_t>(at - of.all.begin()),
                         newest.splits.first - at->splits.splits.first});
  }
  return out;
}

std::optional<lease_history::settlement> lease_history::settle() const {
  const auto ready =
    std::ranges::find_if(lost_, [](const auto& entry) { return entry.second.empty(); });
  if (ready == lost_.end())
    return {};
  settlement out;
  out.outcome.task = ready->first;
  const auto known = tasks_.find(ready->first);
  if (known == tasks_.end())
    return out;
  const auto& of = known->second;
  if (at_least_once())
    return settle_for_good(ready->first, of);
  auto& lost = out.outcome.lost;
  const auto doubtful = first_doubtful(of);
  for (size_t i = 0; i < of.all.size(); ++i) {
    const auto& [run, held] = of.all[i];
    // If rows arrive in order, a split that has reached no reader, and that comes before the split
    // of the newest row, made no row.
    if (rows_.apart && held == held_by::nobody && i < doubtful.first)
      continue;
    if (rows_.apart && held == held_by::nobody) {
      out.back.push_back({run.source, run.pass, run.splits});
      lost.reread += run.splits.count;
    } else if (rows_.apart && held == held_by::unknown) {
      lost.splits += run.splits.count;
    } else if (i >= doubtful.first && !rows_.single) {
      lost.splits += run.splits.count - (i == doubtful.first ? doubtful.second : 0);
    }
  }
  // Each row that was given back may have been lost with the task.
  if (rows_.single)
    lost.splits += of.given_back;
  lost.tasks = lost.splits != 0;
  return out;
}

size_t lease_history::records() const noexcept {
  size_t n = lost_.size() + kept_.size();
  for (const auto& [id, of] : tasks_)
    n += 1 + of.all.size() + of.answered.size() + of.newest.size();
  return n;
}

} // namespace headrace::detail
