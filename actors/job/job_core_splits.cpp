#include "headrace/actors/job/job_core.hpp"
#include "headrace/actors/job/splits/waiting_leases.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headrace::detail {

// The functions for questions about splits, which are answered one after the other.

job_commands job_core::lease(request_token request, const splits_request& wanted, time_point now) {
  now_ = now;
  const auto id = wanted.task;
  auto* r = of_task(id);
  const bool lists = is_static(about_.policy) && wanted.wish.listing;
  if (r == nullptr || (about_.policy != sharding_policy::dynamic && !lists)
      || !r->state.tasks().at(id).alive()) {
    answer(request,
           failed_precondition(r == nullptr && record_.was_collected(id)
                                 ? why_collected()
                                 : fmt::format("task {} has no splits to lease", id.value)));
    return finish();
  }
  if (const auto life = r->state.tasks().at(id).life; life != wanted.life) {
    answer(request, failed_precondition(
                      fmt::format("life {} of task {} leases no splits: its job knows life {}",
                                  wanted.life.value, id.value, life.value)));
    return finish();
  }
  const auto& [which, total, listing, closes, given, done] = wanted.wish;
  if (lists) {
    const auto how = compare_listing(*r, {id, which.source, 0, total, which.number, listing});
    if (how.ok())
      answer(request, lease_answer{pass_over{}});
    else
      answer(request, how);
    return finish();
  }
  if (!done.empty() && about_.guarantee == delivery_guarantee::at_least_once && r->leases.has(id))
    commit({{r->state.repetition(), lease_history::fact{lease_history::done{id, done}}}});
  if (given) {
    if (r->leases.has(id))
      commit({{r->state.repetition(), lease_history::fact{lease_history::given{
                                        id, given->version, given->splits, given->lost}}}});
    answer(request, status{});
    return finish();
  }
  auto& questions = connected_[r->state.repetition()].leases;
  // If the question is repeated or its pass is closed, the earlier request is answered and dropped.
  // A repeated report that a pass is closed does not concern questions about later passes.
  std::erase_if(questions, [&, &which = which, &closes = closes](const auto& earlier) {
    if (earlier.what.task != id || earlier.what.source != which.source
        || (closes && earlier.what.pass != which.pass))
      return false;
    answer(earlier.request, aborted("asked again"));
    return true;
  });
  if (closes) {
    close(*r, id, *closes);
    answer(request, status{});
    return finish();
  }
  questions.push_back({{id, which.source, which.pass, total, which.number, listing}, request});
  settle(*r);
  return finish();
}

status job_core::compare_listing(repetition& r, const lease_request& what) {
  if (auto news = r.splits.note(what))
    commit({{r.state.repetition(), *std::move(news)}});
  return r.splits.refused(what, r.state.tasks().at(what.task).worker.data_address);
}

void job_core::close(repetition& r, task_id task, const unread_splits& what) {
  std::vector<job_record::fact> facts;
  for (auto& x : r.splits.close(task, what)) facts.push_back({r.state.repetition(), std::move(x)});
  commit(std::move(facts));
  settle(r);
}

void job_core::settle(repetition& r) {
  const auto number = r.state.repetition();
  auto& questions = connected_[number].leases;
  waiting_leases waiting;
  for (const auto& one : questions) waiting.add(one.what);
  const auto erase = [&](auto at) {
    waiting.remove(at->what);
    return questions.erase(at);
  };
  const auto give = [&](auto at, const std::vector<split_assigner::leased_to>& given) {
    std::vector<job_record::fact> facts;
    lease_answer out{given.front().splits};
    for (const auto& one : given) {
      // While facts cannot be stored, a task gets no answer and repeats its question. The fact of
      // that answer waits to be stored, and is not added again.
      if (!r.splits.has_given(one))
        facts.push_back({number, split_assigner::fact{one}});
      if (one.continues)
        out.more.push_back(*one.splits);
    }
    commit(std::move(facts));
    r.splits.keep_pace(given, now_);
    answer(at->request, std::move(out));
    return erase(at);
  };
  // One answer can make others possible, so the loop ends only when no question can be answered.
  for (bool progress = true; progress;) {
    progress = false;
    for (auto at = questions.begin(); at != questions.end();) {
      if (auto news = r.splits.note(at->what))
        commit({{number, *std::move(news)}});
      const auto worker = r.state.tasks().at(at->what.task).worker.data_address;
      if (const auto why = r.splits.refused(at->what, worker); !why.ok()) {
        answer(at->request, why);
        at = erase(at);
        progress = true;
      } else if (auto given = r.splits.decide(at->what, waiting.beside(at->what), now_);
                 !given.empty()) {
        at = give(at, given);
        progress = true;
      } else {
        ++at;
      }
    }
    if (progress)
      continue;
    if (const auto given = waiting.give_way(r.splits, now_); !given.empty()) {
      const auto& first = given.front();
      give(std::ranges::find_if(questions,
                                [&](const auto& one) {
                                  return one.what.task == first.task
                                         && one.what.source == first.source
                                         && one.what.pass == first.pass;
                                }),
           given);
      progress = true;
    }
  }
}

void job_core::drop_questions(uint64_t number, task_id of) {
  std::erase_if(connected_[number].leases, [&](const auto& waiting) {
    if (waiting.what.task != of)
      return false;
    answer(waiting.request, aborted(fmt::format("task {} is over", of.value)));
    return true;
  });
}

} // namespace headrace::detail
