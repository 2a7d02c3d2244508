#pragma once

#include "headrace/actors/job/job_core.hpp"
#include "headrace/actors/store/fact_store.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headrace::test {

inline worker_info worker(uint64_t id, uint64_t life = 1) {
  return {worker_id{id}, incarnation{life}, "host:" + std::to_string(id), {}, {}, 0};
}

inline split_plan one_source(uint64_t splits) {
  split_plan out;
  out.sources = {{.splits = splits}};
  out.groups = 1;
  return out;
}

/// One repetition of a job, with what a job actor does around its core.
class driven_job {
public:
  driven_job(sharding_policy mode, uint64_t splits) : driven_job(mode, one_source(splits)) {}
  driven_job(sharding_policy mode, const split_plan& plan)
    : core(job_id{1}, mode, plan), store(core, 100) {
    commit({{0, job_core::begun{42}}});
  }
  job_core::repetition& r() { return core.repetitions().at(0); }
  void commit(const std::vector<job_core::fact>& facts) {
    ASSERT_TRUE(store.append(facts).ok());
    for (const auto& x : facts) core.apply(x);
    all.insert(all.end(), facts.begin(), facts.end());
  }
  iteration::commands carry_out(const iteration::decision& decided) {
    commit(core.facts_of(0, decided));
    return decided.todo;
  }
  std::optional<split_assigner::leased_to> ask(const lease_request& wanted,
                                               const std::set<task_id>& blocked) {
    if (auto news = r().splits.note(wanted))
      commit({{0, *news}});
    now += std::chrono::microseconds{10};
    auto given = r().splits.decide(wanted, blocked, now);
    if (!given)
      return {};
    commit({{0, split_assigner::fact{*given}}});
    r().splits.keep_pace(*given, now);
    return given;
  }
  /// A task leaves with these unread. Says what the job took back.
  std::vector<split_assigner::returned> leave(task_id id, const std::vector<unread_splits>& unread,
                                              const std::vector<worker_info>& alive,
                                              iteration::commands& todo) {
    std::vector<split_assigner::returned> out;
    std::vector<job_core::fact> facts;
    for (const auto& one : unread)
      if (const auto back = r().splits.give_back(id, one)) {
        out.push_back(std::get<split_assigner::returned>(*back));
        facts.push_back({0, *back});
      }
    const auto decided =
      r().core.task_left(id, r().core.tasks().at(id).life, {1}, rest(alive, !facts.empty()));
    if (decided.facts.empty())
      return {};
    commit(facts);
    todo = carry_out(decided);
    return out;
  }
  job_remainder rest(const std::vector<worker_info>& alive, bool given_back = false) {
    return {given_back || r().splits.has_rest(), alive};
  }

  job_core core;
  memory_store<job_core> store;
  std::vector<job_core::fact> all;
  time_point now{}; ///< tasks are fast
};

} // namespace headrace::test
