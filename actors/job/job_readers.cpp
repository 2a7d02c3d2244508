#include "headrace/actors/job/job_actor.hpp"
#include "headrace/actors/job/job_codec.hpp"
#include "headrace/actors/protocol/envelope_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace headrace {

// Consumers: who reads which repetition, and what they are told.

job_state::repetition& job_state::begin(uint64_t number) {
  auto& all = core_.repetitions();
  if (!all.contains(number))
    commit({{number, job_core::begun{random_id()}}});
  return all.at(number);
}

envelope job_state::open(const envelope& in) {
  const auto wanted = in->getDispatcher().getOpenIteration();
  if (const auto how = core_.ended_as(wanted.getRepetition())) {
    iteration past{about_.mode, wanted.getRepetition(), 0};
    past.apply(iteration::finished_as{*how});
    return make_dispatcher_answer(in->getRequestId(), [&](schema::DispatcherMessage::Builder b) {
      auto out = b.initIteration();
      write_iteration(out, view_of(past, about_.id, !about_.name.empty(), about_.options.timing));
      out.setVersion(std::numeric_limits<uint64_t>::max());
    });
  }
  auto& r = begin(wanted.getRepetition());
  const consumer_id who{wanted.getConsumerId()};
  connected_[r.core.repetition()].readers[who] =
    caf::actor_cast<published_actor>(self_->current_sender());
  std::vector<worker_info> alive;
  for (const auto& [id, worker] : workers_) alive.push_back(worker.worker);
  carry_out(r, r.core.consumer_joined(who, alive));
  readers_heard_.grant({r.core.repetition(), who}, now());
  arm();
  return iteration_answer(r, in->getRequestId());
}

envelope job_state::renew(const envelope& in) {
  const auto beat = in->getDispatcher().getConsumerHeartbeat();
  const consumer_id who{beat.getConsumerId()};
  auto at = core_.repetitions().find(beat.getRepetition());
  if (!readers_heard_.renew({beat.getRepetition(), who}, now()))
    return make_failure(not_found(fmt::format("consumer {} is not a reader of job {} (any more)",
                                              beat.getConsumerId(), about_.id.value)),
                        in->getRequestId());
  // After a restart it is not known how to reach it, nor what it has missed.
  if (auto& reader = connected_[at->first].readers[who]; !reader) {
    reader = caf::actor_cast<published_actor>(self_->current_sender());
    announce(at->second);
  }
  return make_ok(in->getRequestId());
}

envelope job_state::leave(const envelope& in) {
  const auto bye = in->getDispatcher().getLeaveIteration();
  if (auto at = core_.repetitions().find(bye.getRepetition()); at != core_.repetitions().end())
    remove(at->second, consumer_id{bye.getConsumerId()});
  end_if_unused();
  return make_ok(in->getRequestId());
}

void job_state::remove(repetition& r, consumer_id who) {
  auto& seen = connected_[r.core.repetition()];
  seen.readers.erase(who);
  readers_heard_.release({r.core.repetition(), who});
  carry_out(r, r.core.consumer_left(who));
  if (r.core.consumers().empty())
    seen.idle_since = now();
}

bool job_state::is_read() const {
  return std::ranges::any_of(
    core_.repetitions(), [](const auto& entry) { return !entry.second.core.consumers().empty(); });
}

void job_state::cancel_idle() {
  for (auto& [number, r] : core_.repetitions())
    if (r.core.consumers().empty() && !r.core.finished()
        && connected_[number].idle_since + about_.options.idle_job <= now()) {
      log_.info("repetition given up", {{"repetition", number}});
      carry_out(r,
                r.core.cancel(aborted(fmt::format(
                  "repetition {} of job '{}' was given up: nobody read it for {:.0f} s", number,
                  about_.name, std::chrono::duration<double>(about_.options.idle_job).count()))));
    }
}

void job_state::forget_spent() {
  const auto spent = core_.spent();
  commit(spent);
  for (const auto& one : spent) connected_.erase(one.repetition);
}

void job_state::end_if_unused() {
  if (is_read())
    return;
  auto& all = core_.repetitions();
  const bool kept =
    !about_.name.empty() && std::any_of(all.begin(), all.end(), [&](const auto& entry) {
      return connected_[entry.first].idle_since + about_.options.idle_job > now();
    });
  if (kept)
    return arm();
  log_.info("job ended", {{"name", about_.name}});
  for (auto& [number, r] : all) carry_out(r, r.core.cancel());
  self_->quit();
}

envelope job_state::iteration_answer(const repetition& r, uint64_t request) const {
  return make_dispatcher_answer(request, [&](schema::DispatcherMessage::Builder b) {
    write_iteration(b.initIteration(),
                    view_of(r.core, about_.id, !about_.name.empty(), about_.options.timing));
  });
}

void job_state::announce(repetition& r) {
  const auto news = make_envelope(0, [&](schema::Envelope::Builder b) {
    write_iteration(b.initConsumer().initIteration(),
                    view_of(r.core, about_.id, !about_.name.empty(), about_.options.timing));
  });
  for (const auto& [id, reader] : connected_[r.core.repetition()].readers)
    if (reader)
      port::tell(reader, news);
}

} // namespace headrace
