#include "headrace/actors/job/job_core.hpp"

#include <algorithm>
#include <iterator>

namespace headrace::detail {

namespace {

void add_facts(uint64_t number, const lease_history::rereading& what,
               std::vector<job_record::fact>& to) {
  for (const auto& one : what.back) to.push_back({number, split_assigner::fact{one}});
  to.push_back({number, lease_history::fact{what.outcome}});
}

} // namespace

// The functions for rows of tasks that are over, while readers hold these rows.

std::vector<job_record::fact> job_core::held_of(const repetition& r, const task_end& what) const {
  // In coordinated reads no fact is needed: `round_table::missed` counts what readers that are gone
  // have missed, and all readers drop the rows of a task for rounds after the task's last epoch.
  if (what.held.empty() || about_.num_consumers != 0)
    return {};
  const auto departed = departed_.find(what.id);
  auto all = what.held;
  if (departed != departed_.end())
    for (const auto& [who, mark] : departed->second)
      if (const auto at = all.find(who); at != all.end())
        at->second.handed_out = std::max(at->second.handed_out, mark);
  std::vector<job_record::fact> out;
  const auto add = [&](held_rows::fact x) { out.push_back({r.state.repetition(), std::move(x)}); };
  add(held_rows::task_over{what.id, all});
  // The task had not been informed that these readers are gone, so it dealt their rows to no other
  // reader.
  for (const auto& [who, marks] : all)
    if (!r.state.consumers().contains(who))
      add(held_rows::reader_gone{who});
  return out;
}

bool job_core::keep_for_readers(const repetition& r, const task_end& what,
                                std::vector<job_record::fact>& facts) const {
  const auto number = r.state.repetition();
  const auto holds = [&](const job_record::fact& x) {
    const auto* held = std::get_if<held_rows::fact>(&x.what);
    return held != nullptr && std::holds_alternative<held_rows::task_over>(*held);
  };
  if (about_.guarantee != delivery_guarantee::at_least_once || !r.leases.has(what.id)
      || std::ranges::none_of(facts, holds))
    return false;
  // This fact comes first, so that the splits that the task gives back are removed from the kept
  // leases.
  std::vector<job_record::fact> all{{number, lease_history::fact{lease_history::kept{what.id}}}};
  std::ranges::move(facts, std::back_inserter(all));
  facts = std::move(all);
  auto after = r;
  for (const auto& x : facts) {
    if (const auto* lease = std::get_if<lease_history::fact>(&x.what))
      after.leases.apply(*lease);
    else if (const auto* splits = std::get_if<split_assigner::fact>(&x.what))
      after.leases.apply(*splits);
    else if (const auto* held = std::get_if<held_rows::fact>(&x.what))
      after.held.apply(*held);
  }
  if (after.held.lost() == r.held.lost()) {
    // The readers may have handed out everything in the meantime.
    if (!after.held.holds(what.id))
      facts.push_back({number, lease_history::fact{lease_history::released{what.id, {}}}});
    return false;
  }
  const auto again = after.leases.read_again(what.id);
  add_facts(number, *again, facts);
  return !again->back.empty();
}

void job_core::note_marks(repetition& r, consumer_id who,
                          const std::map<task_id, uint64_t>& handed_out) {
  const auto holds = r.held.tasks_of(who);
  std::vector<job_record::fact> facts;
  for (const auto& [task, elements] : handed_out)
    if (const auto* known = r.held.find(task, who);
        known != nullptr && known->handed_out < elements)
      facts.push_back(
        {r.state.repetition(), held_rows::fact{held_rows::handed_out{task, who, elements}}});
  commit(std::move(facts));
  conclude(r, holds);
}

void job_core::lose_held(repetition& r, consumer_id who) {
  const auto holds = r.held.tasks_of(who);
  if (holds.empty())
    return;
  const auto before = r.held.lost();
  const auto number = r.state.repetition();
  std::vector<job_record::fact> facts{{number, held_rows::fact{held_rows::reader_gone{who}}}};
  std::vector<task_id> again;
  for (auto id : holds)
    if (const auto known = r.leases.read_again(id); known && !known->back.empty()) {
      again.push_back(id);
      add_facts(number, *known, facts);
    }
  commit(std::move(facts));
  say(log_level::warn, "a reader is gone with rows of workers that had gone before",
      {{"consumer", to_string(who)},
       {"elements_at_most", r.held.lost() - before},
       {"tasks_read_again", again.size()}});
  for (auto id : again) carry_out(r, r.state.task_settled(id, true, rest_of(r, true)));
  conclude(r, holds);
}

void job_core::conclude(repetition& r, const std::vector<task_id>& of) {
  const auto still = r.held.tasks();
  for (auto id : of)
    if (!std::ranges::binary_search(still, id)) {
      std::vector<job_record::fact> facts;
      if (r.leases.keeps(id))
        facts.push_back(
          {r.state.repetition(), lease_history::fact{lease_history::released{id, {}}}});
      carry_out(r, r.state.task_settled(id, false, rest_of(r)), std::move(facts));
    }
}

} // namespace headrace::detail
