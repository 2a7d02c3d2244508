#include "headrace/actors/job/job_core.hpp"

#include <algorithm>

namespace headrace {

// Coordinated reads: epochs are proposed to the readers, and agreed on once all have answered.

void job_core::note_rounds(const repetition& r, consumer_id who, const round_progress& what) {
  auto& known = connected_[r.state.repetition()];
  known.round = std::max(known.round, what.round);
  if (what.answers == r.state.rounds().epoch().number + 1)
    known.places[who] = what.round;
}

void job_core::note_rounds(const repetition& r, const leave_iteration& what) {
  const auto& epoch = r.state.rounds().epoch();
  auto next = UINT64_MAX;
  for (size_t i = 0; i < epoch.tasks.size(); ++i) {
    const auto& task = epoch.tasks[i];
    const auto given = what.handed_out.find(task.task);
    // One that has not come to this epoch's rounds is behind the others.
    if (given == what.handed_out.end() || given->second < task.first_group)
      return;
    next = std::min(next, epoch.first_round + i
                            + (given->second - task.first_group) * epoch.tasks.size());
  }
  auto& furthest = connected_[r.state.repetition()].round;
  if (next != UINT64_MAX)
    furthest = std::max(furthest, next);
}

void job_core::look_at_rounds(repetition& r) {
  if (about_.num_consumers == 0)
    return;
  auto& known = connected_[r.state.repetition()];
  for (;;) {
    const auto epoch = r.state.rounds().epoch().number;
    const auto decided = r.state.next_for_rounds(known.places, known.round);
    if (decided.facts.empty())
      return;
    carry_out(r, decided);
    if (const auto& now = r.state.rounds().epoch(); now.number != epoch) {
      known.places.clear();
      known.round = now.first_round; // less than before where rounds begin anew
      say(log_level::info, "epoch of coordinated reads begins",
          {{"epoch", now.number}, {"round", now.first_round}, {"tasks", now.tasks.size()}});
    }
  }
}

uint64_t job_core::round_of(uint64_t repetition) const {
  const auto at = connected_.find(repetition);
  return at == connected_.end() ? 0 : at->second.round;
}

} // namespace headrace
