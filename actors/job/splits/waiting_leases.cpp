#include "headrace/actors/job/splits/waiting_leases.hpp"

#include <algorithm>

namespace headrace::detail {

void waiting_leases::add(const lease_request& question) {
  questions_[of(question)].push_back(question);
  asking_[of(question)].insert(question.task);
}

void waiting_leases::remove(const lease_request& question) {
  const auto at = questions_.find(of(question));
  if (at == questions_.end())
    return;
  std::erase_if(at->second, [&](const auto& one) { return one.task == question.task; });
  asking_[of(question)].erase(question.task);
  if (at->second.empty()) {
    questions_.erase(at);
    asking_.erase(of(question));
  }
}

const std::set<task_id>& waiting_leases::beside(const lease_request& question) const {
  static const std::set<task_id> none;
  const auto at = asking_.find(of(question));
  return at == asking_.end() ? none : at->second;
}

std::vector<split_assigner::leased_to> waiting_leases::give_way(const split_assigner& splits,
                                                                time_point now) const {
  // A task makes progress if it reads splits, or if it waits for a task that makes progress. Such
  // tasks are removed from `waiting`; the remaining ones wait only for each other.
  std::set<task_id> waiting;
  for (const auto& [where, questions] : questions_)
    for (const auto& one : questions) waiting.insert(one.task);
  std::map<task_id, std::vector<task_id>> waited_for_by;
  std::vector<task_id> going;
  for (const auto& [where, questions] : questions_)
    for (const auto& one : questions)
      for (const auto holder : splits.holders(one, beside(one))) {
        if (!waiting.contains(holder)) {
          going.push_back(one.task);
          break;
        }
        waited_for_by[holder].push_back(one.task);
      }
  while (!going.empty()) {
    const auto task = going.back();
    going.pop_back();
    if (waiting.erase(task) == 0)
      continue;
    if (const auto behind = waited_for_by.find(task); behind != waited_for_by.end())
      going.insert(going.end(), behind->second.begin(), behind->second.end());
  }
  const auto& stuck = waiting;
  if (stuck.empty())
    return {};
  std::vector<const lease_request*> candidates;
  for (const auto& [where, questions] : questions_)
    for (const auto& one : questions)
      if (stuck.contains(one.task))
        candidates.push_back(&one);
  std::ranges::stable_sort(candidates, {},
                           [&](const auto* one) { return splits.read_behind(one->source); });
  for (const auto* one : candidates) {
    auto nobody = beside(*one);
    nobody.insert(stuck.begin(), stuck.end());
    if (auto given = splits.decide(*one, nobody, now); !given.empty())
      return given;
  }
  return {};
}

} // namespace headrace::detail
