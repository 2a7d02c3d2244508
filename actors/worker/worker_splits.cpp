#include "headrace/actors/worker/worker_actor.hpp"

namespace headrace {

// Splits for tasks, from their jobs.

void worker_state::ask_splits(task_id id, const splits_wanted& what) {
  auto& task = tasks_.at(id);
  const auto* to = dispatcher_.get();
  if (to == nullptr)
    return; // asked when it is back
  auto ask = make_envelope(0, [&](schema::Envelope::Builder b) {
    auto out = b.initDispatcher().initLeaseSplits();
    out.setTaskId(id.value);
    out.setIncarnation(task.about.life.value);
    out.setJobId(task.about.job.value);
    out.setSource(what.which.source);
    out.setPass(what.which.pass);
    out.setNumber(what.which.number + 1);
    if (what.total)
      out.getTotal().setSplits(*what.total);
  });
  const auto number = ++task.asks;
  task.ask_again = false;
  // The job may let it wait for long. It is asked again, as what waits there can be lost.
  port::request(self_, *to, timing_.lease, ask)
    .then(
      [this, id, number](const envelope& in) {
        if (auto how = status_of(in); how.code() == status_code::unavailable)
          return not_answered(id, number);
        else if (!how)
          return answer_splits(id, number, how);
        auto leased = in->getDispatcher().getSplitsLeased();
        std::optional<split_range> given;
        if (leased.isRange())
          given = {leased.getRange().getFirst(), leased.getRange().getCount()};
        answer_splits(id, number, given);
      },
      [this, id, number](const caf::error& why) {
        if (to_status(why).code() == status_code::deadline_exceeded)
          if (auto at = waiting(id, number); at != tasks_.end())
            return ask_splits(id, splits_wanted{*at->second.asked});
        not_answered(id, number);
      });
}

std::map<task_id, worker_state::task>::iterator worker_state::waiting(task_id id, uint64_t ask) {
  const auto at = tasks_.find(id);
  return at != tasks_.end() && at->second.asks == ask && at->second.asked ? at : tasks_.end();
}

void worker_state::not_answered(task_id id, uint64_t ask) {
  // A job or dispatcher that ended. What runs in its place says so soon; the next heartbeat asks in
  // any case.
  if (auto at = waiting(id, ask); at != tasks_.end())
    at->second.ask_again = true;
}

void worker_state::answer_splits(task_id id, uint64_t ask,
                                 result<std::optional<split_range>> what) {
  const auto at = waiting(id, ask);
  if (at == tasks_.end())
    return;
  // A task between two lives asks again, and is answered the same.
  const auto which = std::exchange(at->second.asked, {})->which;
  if (at->second.actor)
    port::tell(at->second.actor, make_local<task_event>(splits_answered{which, std::move(what)}));
}

} // namespace headrace
