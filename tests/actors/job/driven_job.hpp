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
  driven_job(processing_mode mode, uint64_t splits)
    : core(job_id{1}, mode, one_source(splits)), store(core, 100) {
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
  std::optional<split_assigner::leased_to> ask(task_id who, uint64_t answered,
                                               const std::set<task_id>& blocked) {
    const lease_request wanted{who, 0, 0, {}, answered + 1};
    if (auto news = r().splits.note(wanted))
      commit({{0, *news}});
    auto given = r().splits.decide(wanted, blocked, {});
    if (given)
      commit({{0, split_assigner::fact{*given}}});
    return given;
  }

  job_core core;
  memory_store<job_core> store;
  std::vector<job_core::fact> all;
};

} // namespace headrace::test
