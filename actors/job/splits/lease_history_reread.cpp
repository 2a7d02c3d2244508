#include "headrace/actors/job/splits/lease_history.hpp"

#include <algorithm>

namespace headrace::detail {

// The rules of at_least_once: leases that are done are removed, and the remaining splits of a lost
// task are read again.

void lease_history::on(const done& x) {
  const auto known = tasks_.find(x.task);
  if (known == tasks_.end())
    return;
  auto& all = known->second.all;
  std::map<uint32_t, std::vector<splits_done>> by_group;
  for (const auto& at : x.places) by_group[first_of_group(at.source)].push_back(at);
  for (const auto& [source, places] : by_group) {
    // Sources of one group have the same leases: a split is done when it is done for all of them.
    if (static_cast<size_t>(std::ranges::count(first_of_group_, source)) != places.size())
      continue;
    auto pass = UINT64_MAX;
    place first{all.size(), 0};
    for (const auto& at : places) {
      pass = std::min(pass, at.pass);
      first = std::min(first, first_not_done(known->second, at));
    }
    std::deque<lease> rest;
    for (size_t i = 0; i < all.size(); ++i) {
      auto one = all[i];
      auto& splits = one.splits.splits;
      if (one.splits.source == source && (one.splits.pass < pass || i < first.first))
        continue;
      if (i == first.first) { // the lease belongs to that source
        splits.first += first.second;
        splits.count -= first.second;
        if (splits.count == 0)
          continue;
      }
      rest.push_back(one);
    }
    all = std::move(rest);
  }
}

lease_history::place lease_history::first_not_done(const task_leases& of,
                                                   const splits_done& at) const {
  if (at.split)
    for (size_t i = 0; i < of.all.size(); ++i) {
      const auto& run = of.all[i].splits;
      const auto first = run.splits.first, end = first + run.splits.count;
      if (run.source == first_of_group(at.source) && run.pass == at.pass && first <= *at.split
          && *at.split < end)
        return {i, *at.split - first + (at.through ? 1 : 0)};
    }
  return {0, 0};
}

void lease_history::on(const kept& x) {
  const auto known = tasks_.find(x.task);
  if (known == tasks_.end())
    return;
  kept_.insert(x.task);
  // For a lost task this fact is recorded at the settlement, which returns the task's splits to the
  // assigner, except, if each split makes at most one row, those whose rows a reader has received.
  // Only the leases of the excepted splits are kept.
  if (lost_.contains(x.task))
    std::erase_if(known->second.all,
                  [&](const lease& one) { return !rows_.single || one.at != held_by::reader; });
}

void lease_history::lose_holder(const std::vector<task_id>& of) {
  if (!at_least_once())
    return;
  // A lost task that is not settled is not kept, so `read_again` returns none of its splits. Each
  // split that a reader has may be one that the gone reader had: which reader has a split is not
  // recorded. So all of these become `unknown`, and the settlement returns them to the assigner.
  for (auto id : of)
    if (const auto known = tasks_.find(id); known != tasks_.end() && lost_.contains(id))
      for (auto& one : known->second.all)
        if (one.at == held_by::reader)
          one.at = held_by::unknown;
}

void lease_history::on(const released& x) {
  if (kept_.erase(x.task) != 0)
    tasks_.erase(x.task);
  losses_ += x.lost;
}

lease_history::settlement lease_history::settle_for_good(task_id id, const task_leases& of) const {
  settlement out{{}, {id, {}}};
  auto& lost = out.outcome.lost;
  for (const auto& [run, held] : of.all) {
    // A split that makes only one row is not read again here if the row has reached a reader: the
    // reader hands the row out, or, if the reader is lost, `read_again` returns the split then.
    if (rows_.single && held == held_by::reader)
      continue;
    out.back.push_back({run.source, run.pass, run.splits});
    lost.reread += run.splits.count;
    if (!rows_.apart || held != held_by::nobody)
      lost.repeated += run.splits.count;
  }
  lost.splits = of.forgotten;
  lost.tasks = lost.splits != 0;
  return out;
}

std::optional<lease_history::rereading> lease_history::read_again(task_id task) const {
  if (!kept_.contains(task))
    return {};
  rereading out{{}, {task, {}}};
  const auto& of = tasks_.at(task);
  for (const auto& one : of.all) {
    const auto& run = one.splits;
    out.back.push_back({run.source, run.pass, run.splits});
    out.outcome.lost.reread += run.splits.count;
  }
  out.outcome.lost.repeated = out.outcome.lost.reread;
  return out;
}

} // namespace headrace::detail
