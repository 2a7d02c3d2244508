#include "headrace/actors/dispatcher/dispatcher_actor.hpp"
#include "headrace/actors/protocol/codec/dataset_codec.hpp"
#include "headrace/actors/protocol/codec/drain_codec.hpp"
#include "headrace/actors/protocol/codec/envelope_parts.hpp"
#include "headrace/actors/protocol/codec/reader_codec.hpp"
#include "headrace/actors/protocol/codec/registration_codec.hpp"
#include "headrace/actors/protocol/codec/save_codec.hpp"
#include "headrace/actors/protocol/codec/task_codec.hpp"
#include "headrace/schemas/text.hpp"

#include <utility>

namespace headrace::detail {

// This file carries out the commands of the core. The functions for the actors of jobs are in
// dispatcher_actor.cpp.

namespace {

/// An answer of the core in the form of a message.
struct answer_message {
  uint64_t request;

  envelope operator()(const status& how) const {
    return how.ok() ? make_ok(request) : make_failure(how, request);
  }
  envelope operator()(const worker_registered& what) const {
    return make_dispatcher_answer(request, [&](schema::DispatcherMessage::Builder b) {
      write_registered(b.initWorkerRegistered(), what);
    });
  }
  envelope operator()(const heartbeat_heard& what) const {
    return make_dispatcher_answer(request, [&](schema::DispatcherMessage::Builder b) {
      auto all = b.initHeartbeatHeard().initUnwanted(static_cast<unsigned>(what.unwanted.size()));
      for (unsigned i = 0; i < all.size(); ++i) all.set(i, what.unwanted[i].value);
      b.getHeartbeatHeard().setLeave(what.leave);
      b.getHeartbeatHeard().setSaves(what.saves);
    });
  }
  envelope operator()(const worker_drains& what) const {
    return make_dispatcher_answer(request, [&](schema::DispatcherMessage::Builder b) {
      write_worker_drains(b.initWorkerDrains(), what);
    });
  }
  envelope operator()(const save_view& what) const {
    return make_dispatcher_answer(request, [&](schema::DispatcherMessage::Builder b) {
      write_save_view(b.initSaveStatus(), what);
    });
  }
  envelope operator()(const save_steps& what) const {
    return make_dispatcher_answer(request, [&](schema::DispatcherMessage::Builder b) {
      write_save_steps(b.initSaveSteps(), what);
    });
  }
  envelope operator()(const dataset_def& what) const {
    return make_dispatcher_answer(request, [&](schema::DispatcherMessage::Builder b) {
      write_dataset_def(b.initDatasetDef(), what);
    });
  }
  envelope operator()(const iteration_view& what) const {
    return make_dispatcher_answer(request, [&](schema::DispatcherMessage::Builder b) {
      write_iteration(b.initIteration(), what);
    });
  }
};

} // namespace

void dispatcher_state::carry_out(dispatcher_commands commands) {
  for (auto& x : commands)
    if (waits_for_facts(x))
      steps_.add(std::move(x), [this](const step& y) { take(y); });
    else
      take(x);
  alarm_.set(self_, atom::deadline_v, core_.next_deadline());
}

void dispatcher_state::take(const step& x) {
  std::visit([this](const auto& y) { carry_out(y); }, x);
}

void dispatcher_state::carry_out(const dispatcher_command::store& x) {
  const auto group = steps_.store();
  const auto kept = [group, self = caf::actor_cast<caf::actor>(self_)](const status& how) {
    port::tell(self, atom::stored_v, group, how.ok());
  };
  if (const auto how = options_.store->append(tenure_.writer, x.facts, kept))
    after_storing(group, how->ok());
}

void dispatcher_state::after_storing(uint64_t group, bool kept) {
  if (!kept)
    throw error{aborted("what was decided was not stored: another actor is in this one's place, or "
                        "its process ends")};
  steps_.kept(group, [this](const step& x) { take(x); });
}

// -- requests -----------------------------------------------------------------------------

void dispatcher_state::carry_out(const dispatcher_command::answer& x) {
  auto who = askers_.extract(x.to);
  if (!who)
    return; // the sender has ceased to wait
  auto& [what, sender, promise, watch] = who.mapped();
  watcher_.forget(watch);
  promise.deliver(std::visit(answer_message{what->getRequestId()}, x.what));
}

void dispatcher_state::carry_out(const dispatcher_command::to_job& x) {
  auto who = askers_.extract(x.request);
  who.mapped().answer.delegate(actor_of(x.job), who.mapped().what);
}

void dispatcher_state::carry_out(const dispatcher_command::watch_asker& x) {
  auto& who = askers_.at(x.of);
  // A sender that ceases to wait sends no message about that: its actor ends.
  who.watch = watcher_.watch(who.sender, [this, token = x.of](const caf::error&) {
    askers_.erase(token);
    core_.asker_gone(token);
  });
}

// -- workers ------------------------------------------------------------------------------

void dispatcher_state::carry_out(const dispatcher_command::keep_worker& x) {
  auto& who = workers_[x.id];
  watcher_.forget(who.watch);
  who.handle = askers_.at(x.from).sender;
  who.watch = watcher_.watch(who.handle, [this, id = x.id, life = x.life](const caf::error&) {
    core_.worker_disconnected(id, life);
  });
}

void dispatcher_state::carry_out(const dispatcher_command::drop_worker& x) {
  if (const auto gone = workers_.extract(x.id))
    watcher_.forget(gone.mapped().watch);
  reports_.heartbeats.erase(x.id);
  reports_.trees.erase(x.id);
}

void dispatcher_state::carry_out(const dispatcher_command::keep_report& x) {
  const auto& beat = askers_.at(x.from).what;
  reports_.heartbeats[x.id] = beat;
  if (auto tree = beat->getDispatcher().getWorkerHeartbeat().getTree(); tree.size() != 0)
    reports_.trees[x.id] = bytes_of(tree);
}

void dispatcher_state::carry_out(const dispatcher_command::stop_task& x) {
  if (auto to = workers_.find(x.worker); to != workers_.end())
    port::tell(to->second.handle, make_stop_order(x.task, x.reason));
}

void dispatcher_state::carry_out(const dispatcher_command::offer_saves& x) {
  if (auto to = workers_.find(x.to); to != workers_.end())
    port::tell(to->second.handle,
               make_envelope(0, [](schema::Envelope::Builder b) { b.initWorker().setSaves(); }));
}

void dispatcher_state::carry_out(const dispatcher_command::worker_changed& x) {
  published_actor handle;
  if (auto known = workers_.find(x.worker.id); !x.lost && known != workers_.end())
    handle = known->second.handle;
  if (auto actor = actor_of(x.job))
    port::tell(actor, make_local<worker_change>(x.worker, handle, x.lost));
}

// -- other commands -----------------------------------------------------------------------

void dispatcher_state::carry_out(const dispatcher_command::log& x) { write(log_, x); }

} // namespace headrace::detail
