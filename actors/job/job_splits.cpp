#include "headrace/actors/dispatcher/dispatcher_message.hpp"
#include "headrace/actors/job/job_actor.hpp"

#include <fmt/format.h>

#include <set>

namespace headrace {

// Splits: leased on request, and given back.

namespace {

unread_splits read_unread(schema::UnreadSplits::Reader in) {
  return {in.getSource(),
          in.getPass(),
          in.getAnswered(),
          {in.getRest().getFirst(), in.getRest().getCount()}};
}

std::shared_ptr<const split_listing> read_listing(schema::SplitListing::Reader in) {
  auto out = std::make_shared<split_listing>();
  out->digest = in.getDigest();
  out->count = in.getCount();
  for (auto entry : in.getEntries()) out->entries.emplace_back(entry);
  return out;
}

} // namespace

caf::result<envelope> job_state::lease(const envelope& in) {
  const auto wanted = in->getDispatcher().getLeaseSplits();
  const task_id id{wanted.getTaskId()};
  auto* r = of_task(id);
  if (r == nullptr || about_.mode != processing_mode::dynamic || !r->core.tasks().at(id).alive())
    return make_failure(
      failed_precondition(fmt::format("task {} has no splits to lease", id.value)),
      in->getRequestId());
  if (wanted.hasCloses()) {
    close(*r, id, wanted.getCloses());
    return make_ok(in->getRequestId());
  }
  connected::waiting entry{{id, wanted.getSource(), wanted.getPass(), {}, {}, nullptr},
                           in->getRequestId(),
                           self_->make_response_promise<envelope>()};
  if (wanted.getTotal().isSplits())
    entry.what.total = wanted.getTotal().getSplits();
  if (wanted.getNumber() != 0)
    entry.what.number = wanted.getNumber();
  if (wanted.hasListing())
    entry.what.listing = read_listing(wanted.getListing());
  auto& requests = connected_[r->core.repetition()].leases;
  // Put again: whoever asked before hears nothing more.
  std::erase_if(requests, [&](auto& earlier) {
    if (earlier.what.task != id || earlier.what.source != entry.what.source)
      return false;
    earlier.answer.deliver(make_failure(aborted("asked again"), earlier.request));
    return true;
  });
  auto promise = entry.answer;
  requests.push_back(std::move(entry));
  settle(*r);
  return promise;
}

void job_state::left(repetition& r, task_id id, incarnation life, iteration::output made,
                     capnp::List<schema::UnreadSplits>::Reader unread) {
  // With the end of the task, or not at all: what is given back must not be read there any more.
  std::vector<job_core::fact> facts;
  for (auto one : unread)
    if (auto back = r.splits.give_back(id, read_unread(one)))
      facts.push_back({r.core.repetition(), *std::move(back)});
  const auto decided = r.core.task_left(id, life, made, rest_of(r, !facts.empty()));
  if (!decided.facts.empty()) // not heard before
    carry_out(r, decided, std::move(facts));
}

void job_state::close(repetition& r, task_id id, schema::UnreadSplits::Reader what) {
  std::vector<job_core::fact> facts;
  for (auto& x : r.splits.close(id, read_unread(what)))
    facts.push_back({r.core.repetition(), split_assigner::fact{std::move(x)}});
  commit(facts);
  settle(r);
}

job_remainder job_state::rest_of(const repetition& r, bool given_back) const {
  job_remainder out{.splits = given_back || r.splits.has_rest()};
  for (const auto& [id, worker] : workers_) out.alive.push_back(worker.worker);
  return out;
}

void job_state::settle(repetition& r) {
  const auto number = r.core.repetition();
  auto& requests = connected_[number].leases;
  std::set<task_id> blocked;
  for (const auto& waiting : requests) blocked.insert(waiting.what.task);
  // One answer can make others possible, so again from the start until nothing changes.
  for (bool progress = true; progress;) {
    progress = false;
    for (auto at = requests.begin(); at != requests.end();) {
      if (auto news = r.splits.note(at->what))
        commit({{number, *std::move(news)}});
      const auto worker = r.core.tasks().at(at->what.task).worker.data_address;
      if (const auto why = r.splits.refused(at->what, worker); !why.ok()) {
        at->answer.deliver(make_failure(why, at->request));
        blocked.erase(at->what.task);
        at = requests.erase(at);
        progress = true;
        continue;
      }
      const auto given = r.splits.decide(at->what, blocked, now());
      if (!given) {
        ++at;
        continue;
      }
      commit({{number, split_assigner::fact{*given}}});
      r.splits.keep_pace(*given, now());
      at->answer.deliver(
        make_dispatcher_answer(at->request, [&](schema::DispatcherMessage::Builder b) {
          auto out = b.initSplitsLeased();
          if (given->splits) {
            out.initRange().setFirst(given->splits->first);
            out.getRange().setCount(given->splits->count);
          } else {
            out.setExhausted();
            out.setAlone(given->splits.over.alone);
            out.setRunning(given->splits.over.running);
          }
        }));
      blocked.erase(at->what.task);
      at = requests.erase(at);
      progress = true;
    }
  }
}

void job_state::drop_requests(uint64_t number, task_id of) {
  std::erase_if(connected_[number].leases, [&](auto& waiting) {
    if (waiting.what.task != of)
      return false;
    waiting.answer.deliver(
      make_failure(aborted(fmt::format("task {} is over", of.value)), waiting.request));
    return true;
  });
}

} // namespace headrace
