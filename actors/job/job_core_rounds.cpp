#include "headrace/actors/job/job_core.hpp"

#include <algorithm>
#include <utility>

namespace headrace::detail {

// Coordinated reads: epochs are proposed to the readers, and begin when all have answered.

void job_core::note_rounds(const repetition& r, consumer_id who, const round_progress& what) {
  auto& known = connected_[r.state.repetition()];
  known.round = std::max(known.round, what.round);
  known.rounds[who] = what.round;
  if (what.answers == r.state.rounds().epoch().number + 1)
    known.places[who] = what.round;
}

void job_core::note_rounds(const repetition& r, const leave_iteration& what) {
  const auto& epoch = r.state.rounds().epoch();
  connected_[r.state.repetition()].rounds.erase(what.who.consumer);
  auto next = UINT64_MAX;
  for (size_t i = 0; i < epoch.tasks.size(); ++i) {
    const auto& task = epoch.tasks[i];
    const auto given = what.handed_out.find(task.task);
    // A reader that has not reached the rounds of this epoch is behind the others.
    if (given == what.handed_out.end() || given->second < task.first_group)
      return;
    next = std::min(next, epoch.first_round + i
                            + (given->second - task.first_group) * epoch.tasks.size());
  }
  auto& known = connected_[r.state.repetition()];
  if (next == UINT64_MAX)
    return;
  known.round = std::max(known.round, next);
  known.left_at = std::max(known.left_at, next);
}

void job_core::note_given_up(const repetition& r, consumer_id who) {
  auto& known = connected_[r.state.repetition()];
  const auto view = r.state.rounds().view();
  const auto seat = std::ranges::find(view.seats, who, &round_seat::who);
  if (seat == view.seats.end() || seat->begins > view.now.number)
    return; // it has taken part in no round
  const auto at = known.rounds.find(who);
  known.given_up[who] = at != known.rounds.end() ? at->second : view.now.first_round;
}

void job_core::lose_rounds(repetition& r, uint64_t up_to) {
  // A consumer that was given up had received its elements of these rounds, so the other consumers
  // continued through them. The count is an upper bound, because the consumer may have handed out
  // more than it last reported. It is recorded in the form of rows that the consumer held of the
  // epoch's first task, whatever task gave them.
  const auto& tasks = r.state.rounds().epoch().tasks;
  for (const auto& [who, next] : std::exchange(connected_[r.state.repetition()].given_up, {}))
    if (next < up_to && !tasks.empty()) {
      const auto number = r.state.repetition();
      const auto task = tasks.front().task;
      commit({{number, held_rows::fact{held_rows::task_over{task, {{who, {up_to - next, 0}}}}}},
              {number, held_rows::fact{held_rows::reader_gone{who}}}});
      say(log_level::warn, "rounds went on without a consumer that is gone",
          {{"consumer", to_string(who)}, {"rounds_at_most", up_to - next}});
    }
}

bool job_core::is_left_behind(const repetition& r) const {
  const auto known = connected_.find(r.state.repetition());
  if (known == connected_.end())
    return false;
  const auto view = r.state.rounds().view();
  return std::ranges::any_of(view.seats, [&](const round_seat& seat) {
    const auto at = known->second.rounds.find(seat.who);
    return seat.begins <= view.now.number && at != known->second.rounds.end()
           && at->second < known->second.left_at;
  });
}

void job_core::look_at_rounds(repetition& r) {
  if (about_.num_consumers == 0)
    return;
  auto& known = connected_[r.state.repetition()];
  for (;;) {
    const auto epoch = r.state.rounds().epoch().number;
    auto decided = r.state.next_for_rounds(known.places, known.round, is_left_behind(r));
    if (decided.facts.empty())
      return;
    // The readers are sent the new epoch together with what is lost when it begins.
    const bool announces = std::exchange(decided.todo.announce, false);
    carry_out(r, decided);
    if (const auto& now = r.state.rounds().epoch(); now.number != epoch) {
      known.places.clear();
      // A reader that is behind the epoch's first round may be lost before its next report. What it
      // has not handed out is then counted from its last one, unless the rounds begin anew.
      if (now.first_round < known.round)
        known.rounds.clear();
      known.round = now.first_round;
      known.left_at = 0;
      lose_rounds(r, now.first_round);
      say(log_level::info, "epoch of coordinated reads begins",
          {{"epoch", now.number}, {"round", now.first_round}, {"tasks", now.tasks.size()}});
    }
    if (announces)
      announce(r);
  }
}

std::map<consumer_id, pace_window> job_core::paces_of(uint64_t repetition) const {
  const auto at = connected_.find(repetition);
  return at == connected_.end() ? std::map<consumer_id, pace_window>{} : at->second.paces;
}

uint64_t job_core::round_of(uint64_t repetition) const {
  const auto at = connected_.find(repetition);
  return at == connected_.end() ? 0 : at->second.round;
}

} // namespace headrace::detail
