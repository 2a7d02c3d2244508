#include "headrace/actors/worker/worker_actor.hpp"

namespace headrace {

// Splits for tasks, from their jobs.

namespace {

void write_wish(schema::LeaseSplits::Builder out, const splits_wish& what) {
  out.setSource(what.which.source);
  out.setPass(what.which.pass);
  out.setNumber(what.which.number + 1);
  if (what.total)
    out.getTotal().setSplits(*what.total);
  if (what.closes)
    write_unread(out.initCloses(), *what.closes);
  if (!what.listing)
    return;
  auto listing = out.initListing();
  listing.setDigest(what.listing->digest);
  listing.setCount(what.listing->count);
  // The names are for the first question about a pass: to be the listing, or to say what differs.
  if (what.which.number != 0)
    return;
  const auto& entries = what.listing->entries;
  auto list = listing.initEntries(static_cast<unsigned>(entries.size()));
  for (unsigned i = 0; i < list.size(); ++i) list.set(i, entries[i]);
}

split_answer read_answer(schema::SplitsLeased::Reader in) {
  if (in.isRange())
    return split_range{in.getRange().getFirst(), in.getRange().getCount()};
  return pass_over{.alone = in.getAlone(), .running = in.getRunning()};
}

} // namespace

void worker_state::ask_splits(task_id id, const split_question& which) {
  auto& task = tasks_.at(id);
  const auto* to = dispatcher_.get();
  if (to == nullptr)
    return; // asked when it is back
  auto& ask = task.asked.at(which);
  auto message = make_envelope(0, [&](schema::Envelope::Builder b) {
    auto out = b.initDispatcher().initLeaseSplits();
    out.setTaskId(id.value);
    out.setIncarnation(task.about.life.value);
    out.setJobId(task.about.job.value);
    write_wish(out, ask.what);
  });
  const auto number = ask.number = ++task.asks;
  ask.again = false;
  // The job may let it wait for long. It is asked again, as what waits there can be lost.
  port::request(self_, *to, timing_.lease, message)
    .then(
      [this, id, which, number](const envelope& in) {
        if (auto how = status_of(in); how.code() == status_code::unavailable)
          return not_answered(id, which, number);
        else if (!how)
          return answer_splits(id, which, number, how);
        answer_splits(id, which, number, read_answer(in->getDispatcher().getSplitsLeased()));
      },
      [this, id, which, number](const caf::error& why) {
        if (to_status(why).code() == status_code::deadline_exceeded
            && waiting(id, which, number) != nullptr)
          return ask_splits(id, which);
        not_answered(id, which, number);
      });
}

void worker_state::ask_again(task_id id, bool all) {
  for (const auto& [which, ask] : tasks_.at(id).asked)
    if (all || ask.again)
      ask_splits(id, which);
}

worker_state::task::ask* worker_state::waiting(task_id id, const split_question& which,
                                               uint64_t ask) {
  const auto at = tasks_.find(id);
  if (at == tasks_.end())
    return nullptr;
  const auto found = at->second.asked.find(which);
  return found != at->second.asked.end() && found->second.number == ask ? &found->second : nullptr;
}

void worker_state::not_answered(task_id id, const split_question& which, uint64_t ask) {
  // A job or dispatcher that ended. What runs in its place says so soon; the next heartbeat asks in
  // any case.
  if (auto* lost = waiting(id, which, ask))
    lost->again = true;
}

void worker_state::answer_splits(task_id id, const split_question& which, uint64_t ask,
                                 result<split_answer> what) {
  if (waiting(id, which, ask) == nullptr)
    return;
  auto& task = tasks_.at(id);
  task.asked.erase(which);
  // A task between two lives asks again, and is answered the same.
  if (task.actor)
    port::tell(task.actor, make_local<task_event>(splits_answered{which, std::move(what)}));
}

} // namespace headrace
