#include "headrace/actors/job/job_core.hpp"
#include "headrace/actors/protocol/rounds_ahead.hpp"

#include <algorithm>
#include <utility>

namespace headrace::detail {

// Coordinated reads: epochs are proposed to the readers, and begin when all have answered.

void job_core::note_rounds(const repetition& r, consumer_id who, const round_progress& what) {
  auto& known = connected_[r.state.repetition()];
  known.round = std::max(known.round, what.round);
  // A reader that had no epoch yet when it sent the report names round 0.
  auto& round = known.rounds[who];
  round = std::max(round, what.round);
  if (what.answers == r.state.rounds().epoch().number + 1)
    known.places[who] = what.round;
}

void job_core::note_rounds(const repetition& r, const leave_iteration& what) {
  const auto& epoch = r.state.rounds().epoch();
  auto next = UINT64_MAX;
  for (size_t i = 0; i < epoch.tasks.size(); ++i) {
    const auto& task = epoch.tasks[i];
    const auto given = what.handed_out.find(task.task);
    // A reader that has not reached the rounds of this epoch is behind the others. Its last report
    // stays the best information about its round.
    if (given == what.handed_out.end() || given->second < task.first_group)
      return;
    next = std::min(next, epoch.first_round + i
                            + (given->second - task.first_group) * epoch.tasks.size());
  }
  if (next == UINT64_MAX)
    return;
  auto& known = connected_[r.state.repetition()];
  known.round = std::max(known.round, next);
  known.left_at = std::max(known.left_at, next);
  auto& round = known.rounds[what.who.consumer];
  round = std::max(round, next);
}

round_table::absence job_core::absence_of(const repetition& r, consumer_id who, bool lost) {
  const auto view = r.state.rounds().view();
  const auto* seat = view.seat_of(who);
  if (seat == nullptr || seat->begins > view.now.number)
    return {}; // it has taken part in no round
  const auto& rounds = connected_[r.state.repetition()].rounds;
  if (const auto at = rounds.find(who); at != rounds.end())
    return {at->second, UINT64_MAX, lost};
  // This core has no report of the reader. The others continued without it only through rounds that
  // it had received. At most `most_rounds_ahead` of these for each task were not handed out by it.
  return {seat->begins == view.now.number ? view.now.first_round : 0,
          most_rounds_ahead * view.now.tasks.size(), lost};
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
    const auto missed = r.state.rounds().missed();
    auto decided = r.state.next_for_rounds(known.places, known.round, is_left_behind(r));
    if (decided.facts.empty())
      return;
    // The readers are sent the new epoch together with what is lost when it begins.
    const bool announces = std::exchange(decided.todo.announce, false);
    carry_out(r, decided);
    if (const auto& now = r.state.rounds().epoch(); now.number != epoch) {
      known.places.clear();
      known.round = now.first_round;
      known.left_at = 0;
      // A reader that is behind the first round of the epoch keeps its last report. A reader that
      // begins with the epoch has missed no earlier round, so the first round counts as its report.
      for (const auto& seat : r.state.rounds().view().seats)
        if (seat.begins == now.number)
          known.rounds[seat.who] = now.first_round;
      if (const auto more = r.state.rounds().missed() - missed; more != 0)
        say(log_level::warn, "rounds went on without consumers that are gone",
            {{"elements_at_most", more}});
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
