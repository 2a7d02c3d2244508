#include "headrace/actors/dispatcher/dispatcher_actor.hpp"
#include "headrace/actors/job/job_codec.hpp"
#include "headrace/actors/protocol/envelope_parts.hpp"
#include "headrace/actors/protocol/task_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace headrace {

// Registration, leases and the end of workers.

envelope dispatcher_state::register_worker(const envelope& in) {
  auto wanted = in->getDispatcher().getRegisterWorker();
  worker_info info{worker_id{wanted.getWorkerId()},
                   incarnation{wanted.getIncarnation()},
                   std::string{text_of(wanted.getDataAddress())},
                   std::string{text_of(wanted.getBootId())},
                   {},
                   wanted.getPid()};
  for (auto tag : wanted.getTags()) info.tags.emplace_back(text_of(tag));
  const auto sender = caf::actor_cast<published_actor>(self_->current_sender());
  if (!sender)
    return make_failure(
      invalid_argument("a worker registers with a request, not with a plain message"),
      in->getRequestId());
  if (const auto* other = workers_.rival(info))
    return refuse(info, *other, in->getRequestId());
  const auto outcome = workers_.add(info, now());
  info.id = outcome.id;
  if (outcome.replaced)
    lose(*outcome.replaced);
  worker_handles_[info.id] = sender;
  watcher_.forget(worker_watches_[info.id]);
  worker_watches_[info.id] =
    watcher_.watch(sender, [this, id = info.id, life = info.life](const caf::error&) {
      workers_.disconnected(id, life);
    });
  if (outcome.joined)
    log_.info("worker joined",
              {{"worker", info.id}, {"data", info.data_address}, {"pid", info.pid}});
  // Tasks of jobs that are over: nobody else stops them.
  for (auto task : wanted.getTasks())
    if (!core_.jobs().contains(job_id{task.getJobId()}))
      port::tell(sender, make_stop_order(task_id{task.getTaskId()}, "its job is over"));
  tell_jobs({info, sender, false});
  arm();
  const auto alive = workers_.alive().size();
  std::erase_if(awaiting_, [&](awaiting& one) {
    if (one.workers > alive)
      return false;
    one.answer.deliver(make_ok(one.request));
    watcher_.forget(one.asker);
    return true;
  });
  return make_dispatcher_answer(in->getRequestId(), [&](schema::DispatcherMessage::Builder b) {
    auto out = b.initWorkerRegistered();
    out.setWorkerId(info.id.value);
    write_timing(out.initTiming(), workers_.timing());
  });
}

envelope dispatcher_state::refuse(const worker_info& who, const worker_info& other,
                                  uint64_t request) {
  const auto why = already_exists(
    fmt::format("another worker ({}, process {}) is alive at {}, the data address that this one "
                "(process {}) tells as well: give each an address of its own, with --data-port "
                "and --advertise, or with --advertise-data",
                to_string(other.id), other.pid, other.data_address, who.pid));
  // It will ask again and again.
  if (std::exchange(last_refused_, who.life) != who.life)
    log_.warn("worker refused", {{"why", why}});
  return make_failure(why, request);
}

envelope dispatcher_state::worker_heartbeat(const envelope& in) {
  auto beat = in->getDispatcher().getWorkerHeartbeat();
  const worker_id id{beat.getWorkerId()};
  if (!workers_.renew(id, incarnation{beat.getIncarnation()}, now()))
    return make_failure(
      not_found(fmt::format("worker {} is not registered (any more)", to_string(id))),
      in->getRequestId());
  last_heartbeats_[id] = in;
  if (auto tree = beat.getTree(); tree.size() != 0)
    trees_[id] = bytes_of(tree);
  return make_ok(in->getRequestId());
}

envelope dispatcher_state::worker_leaves(const envelope& in) {
  const auto bye = in->getDispatcher().getLeaveService();
  if (auto who = workers_.leave(worker_id{bye.getWorkerId()}, incarnation{bye.getIncarnation()})) {
    log_.info("worker left", {{"worker", who->id}, {"data", who->data_address}});
    forget_worker(*who);
  }
  return make_ok(in->getRequestId());
}

void dispatcher_state::lose(const worker_info& who) {
  log_.warn("worker lost", {{"worker", who.id}, {"data", who.data_address}});
  forget_worker(who);
}

void dispatcher_state::forget_worker(const worker_info& who) {
  worker_handles_.erase(who.id);
  if (auto watch = worker_watches_.extract(who.id); !watch.empty())
    watcher_.forget(watch.mapped());
  last_heartbeats_.erase(who.id);
  trees_.erase(who.id);
  tell_jobs({who, {}, true});
}

void dispatcher_state::tell_jobs(const worker_change& change) {
  for (const auto& [id, job] : core_.jobs())
    if (auto actor = actor_of(id))
      port::tell(actor, make_local<worker_change>(change));
}

void dispatcher_state::arm() {
  if (auto at = workers_.next_deadline())
    port::remind(self_, std::max(*at - now(), duration{0}), atom::deadline_v, ++armed_);
}

caf::result<envelope> dispatcher_state::await_workers(const envelope& in) {
  const auto wanted = in->getDispatcher().getAwaitWorkers();
  if (workers_.alive().size() >= wanted)
    return make_ok(in->getRequestId());
  const auto asker = caf::actor_cast<caf::actor>(self_->current_sender());
  if (!asker)
    return make_ok(in->getRequestId()); // nobody listens
  awaiting_.push_back({wanted, in->getRequestId(), self_->make_response_promise<envelope>()});
  const auto at = std::prev(awaiting_.end());
  // Who waits no longer ends, without a word.
  at->asker = watcher_.watch(asker, [this, at](const caf::error&) { awaiting_.erase(at); });
  return at->answer;
}

} // namespace headrace
