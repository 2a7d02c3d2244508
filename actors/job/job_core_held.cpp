#include "headrace/actors/job/job_core.hpp"

#include <algorithm>

namespace headrace {

// Rows of tasks that are over, which only the reader has that they reached.

std::vector<job_record::fact> job_core::held_of(const repetition& r, const task_end& what) const {
  if (what.held.empty())
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
  // The task did not know yet that it is gone, and gave nothing to others.
  for (const auto& [who, marks] : all)
    if (!r.state.consumers().contains(who))
      add(held_rows::reader_gone{who});
  return out;
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
  commit({{r.state.repetition(), held_rows::fact{held_rows::reader_gone{who}}}});
  say(log_level::warn, "a reader is gone with rows of workers that had gone before",
      {{"consumer", to_string(who)}, {"elements_at_most", r.held.lost() - before}});
  conclude(r, holds);
}

void job_core::conclude(repetition& r, const std::vector<task_id>& of) {
  const auto still = r.held.tasks();
  for (auto id : of)
    if (!std::ranges::binary_search(still, id))
      carry_out(r, r.state.task_settled(id, false, rest_of(r)));
}

} // namespace headrace
