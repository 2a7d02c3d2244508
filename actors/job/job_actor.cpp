#include "headrace/actors/job/job_actor.hpp"

#include "headrace/actors/job/job_status.hpp"
#include "headrace/actors/protocol/codec/envelope_parts.hpp"
#include "headrace/actors/protocol/codec/reader_codec.hpp"
#include "headrace/actors/protocol/codec/splits_codec.hpp"
#include "headrace/actors/protocol/codec/task_codec.hpp"

namespace headrace::detail {

namespace {

std::vector<worker_info> infos_of(const std::vector<worker_change>& present) {
  std::vector<worker_info> out;
  for (const auto& one : present) out.push_back(one.worker);
  return out;
}

} // namespace

job_state::job_state(port::self_pointer<handle_type> self, job_description about,
                     std::shared_ptr<fact_store<job_record>> store,
                     const std::vector<worker_change>& present, logger log)
  : self_(self),
    store_(std::move(store)),
    tenure_(store_->take_over()),
    log_(log.with({{"job", about.id}})),
    core_(std::move(about), std::move(tenure_.record), infos_of(present), random_id()) {
  for (const auto& one : present) workers_.emplace(one.worker.id, one.handle);
}

port::behavior<job_handle> job_state::make_behavior() {
  // The last facts of the previous actor may not be stored yet. The empty group counts as stored
  // only after them, so the following commands wait for them, too.
  carry_out(job_command::store{});
  carry_out(core_.start(now()));
  return {
    [this](const envelope& in) { return receive(in); },
    [this](const local<worker_change>& change) {
      add(*change);
      const auto& who = change->worker;
      carry_out(change->lost ? core_.worker_lost(who.id, now()) : core_.worker_came(who, now()));
    },
    [this](atom::stored, uint64_t group, bool kept) { after_storing(group, kept); },
    [this](atom::deadline, uint64_t epoch) {
      if (alarm_.due(epoch))
        carry_out(core_.timer(now()));
    },
  };
}

// -- events -----------------------------------------------------------------------------

template <class Event>
caf::result<envelope> job_state::decide(const envelope& in, Event&& event) {
  const request_token token{++last_token_};
  auto promise = self_->make_response_promise<envelope>();
  askers_.emplace(token, asker{in->getRequestId(), promise});
  carry_out(event(token));
  return promise;
}

caf::result<envelope> job_state::receive(const envelope& in) {
  using arm = schema::DispatcherMessage;
  const auto request = in->getDispatcher();
  const auto id = in->getRequestId();
  // The sender must be read before a promise is made, because the promise takes it out of the
  // message.
  const auto sender = caf::actor_cast<published_actor>(self_->current_sender());
  switch (request.which()) {
  case arm::OPEN_ITERATION: {
    const auto wanted = read_open_iteration(request.getOpenIteration());
    if (!wanted)
      return make_failure(wanted.status(), id);
    return decide(in, [&](request_token token) {
      auto out = core_.open(token, *wanted, now());
      if (core_.is_reader({wanted->consumer, core_.about().id, wanted->repetition}, wanted->node))
        add(known_reader{wanted->repetition, wanted->consumer, sender});
      return out;
    });
  }
  case arm::CONSUMER_HEARTBEAT: {
    const auto what = read_heartbeat(request.getConsumerHeartbeat());
    const auto& who = what.who;
    return decide(in, [&](request_token token) {
      auto out = core_.heartbeat(token, what, now());
      // After a restart the job does not have the reader's handle.
      if (core_.is_reader(who) && !readers_.contains({who.repetition, who.consumer}))
        add(known_reader{who.repetition, who.consumer, sender});
      return out;
    });
  }
  case arm::LEAVE_ITERATION: {
    const auto what = read_leave(request.getLeaveIteration());
    return decide(in, [&](request_token token) { return core_.leave(token, what, now()); });
  }
  case arm::LEASE_SPLITS: {
    const auto wanted = read_splits_request(request.getLeaseSplits());
    return decide(in, [&](request_token token) { return core_.lease(token, wanted, now()); });
  }
  case arm::TASK_ENDED: {
    const auto what = read_task_end(request.getTaskEnded());
    if (!what)
      return make_failure(what.status(), id);
    return decide(in, [&](request_token token) { return core_.task_ended(token, *what, now()); });
  }
  case arm::GET_STATUS: return report(in);
  default: return make_unsupported(static_cast<uint16_t>(request.which()), "job", id);
  }
}

envelope job_state::report(const envelope& in) const {
  return make_dispatcher_answer(in->getRequestId(), [&](schema::DispatcherMessage::Builder b) {
    const auto& all = core_.record().repetitions();
    write_job_status(b.initStatus().initJobs(1)[0], core_.about(), core_.record(),
                     all.empty() ? 0 : core_.round_of(all.rbegin()->first),
                     all.empty() ? std::map<consumer_id, pace_window>{}
                                 : core_.paces_of(all.rbegin()->first));
  });
}

// -- commands -----------------------------------------------------------------------------

void job_state::carry_out(job_commands commands) {
  for (auto& x : commands)
    if (waits_for_facts(x))
      add(std::move(x));
    else
      carry_out(x);
  alarm_.set(self_, atom::deadline_v, core_.next_deadline());
}

void job_state::add(step x) {
  steps_.add(std::move(x), [this](const step& y) { take(y); });
}

void job_state::take(const step& x) {
  std::visit([this](const auto& y) { carry_out(y); }, x);
}

void job_state::carry_out(const job_commands::value_type& x) {
  std::visit([this](const auto& y) { carry_out(y); }, x);
}

void job_state::carry_out(const job_command::store& x) {
  const auto group = steps_.store();
  const auto kept = [group, self = caf::actor_cast<caf::actor>(self_)](const status& how) {
    port::tell(self, atom::stored_v, group, how.ok());
  };
  if (const auto how = store_->append(tenure_.writer, x.facts, kept))
    after_storing(group, how->ok());
}

void job_state::after_storing(uint64_t group, bool kept) {
  if (!kept)
    throw error{aborted("what was decided was not stored: another actor is in this one's place, or "
                        "its process ends")};
  steps_.kept(group, [this](const step& x) { take(x); });
}

void job_state::carry_out(const worker_change& x) {
  if (x.lost)
    workers_.erase(x.worker.id);
  else
    workers_[x.worker.id] = x.handle;
}

void job_state::carry_out(const known_reader& x) { readers_[{x.repetition, x.who}] = x.handle; }

void job_state::carry_out(const job_command::answer& x) {
  auto to = askers_.extract(x.to);
  const auto request = to.mapped().request;
  struct {
    uint64_t request;
    envelope operator()(const status& how) const {
      return how.ok() ? make_ok(request) : make_failure(how, request);
    }
    envelope operator()(const iteration_view& view) const {
      return make_dispatcher_answer(request, [&](schema::DispatcherMessage::Builder b) {
        write_iteration(b.initIteration(), view);
      });
    }
    envelope operator()(const lease_answer& splits) const {
      return make_dispatcher_answer(request, [&](schema::DispatcherMessage::Builder b) {
        write_splits_answer(b.initSplitsLeased(), splits);
      });
    }
  } const as_message{request};
  to.mapped().answer.deliver(std::visit(as_message, x.what));
}

void job_state::carry_out(const job_command::start_task& x) {
  const auto order = make_envelope(0, [&](schema::Envelope::Builder b) {
    write_task_order(b.initWorker().initStartTask(), x.what,
                     x.with_graph ? core_.about().graph : buffer{});
  });
  port::request(self_, workers_.at(x.worker), core_.about().start_timeout, order)
    .then(
      [this, x](const envelope& in) { carry_out(core_.start_answered(x, status_of(in), now())); },
      [this, x](const caf::error&) { carry_out(core_.start_unanswered(x, now())); });
}

void job_state::carry_out(const job_command::stop_task& x) {
  port::request(self_, workers_.at(x.worker), core_.about().start_timeout,
                make_stop_order(x.task, x.reason))
    .then([this, x](const envelope&) { carry_out(core_.stop_answered(x, true, now())); },
          [this, x](const caf::error&) { carry_out(core_.stop_answered(x, false, now())); });
}

void job_state::carry_out(const job_command::name_readers& x) {
  const auto order = make_envelope(0, [&](schema::Envelope::Builder b) {
    write_task_readers(b.initWorker().initReaders(), x.who);
  });
  port::request(self_, workers_.at(x.worker), core_.about().start_timeout, order)
    .then([this, x](const envelope&) { carry_out(core_.readers_answered(x, true, now())); },
          [this, x](const caf::error&) { carry_out(core_.readers_answered(x, false, now())); });
}

void job_state::carry_out(const job_command::announce& x) {
  const auto news = make_envelope(0, [&](schema::Envelope::Builder b) {
    write_iteration(b.initConsumer().initIteration(), x.what);
  });
  for (auto who : x.to)
    if (auto to = readers_.find({x.what.repetition, who}); to != readers_.end() && to->second)
      port::tell(to->second, news);
}

void job_state::carry_out(const job_command::drop_reader& x) {
  readers_.erase({x.who.repetition, x.who.consumer});
}

void job_state::carry_out(const job_command::log& x) { write(log_, x); }

void job_state::carry_out(const job_command::ended&) { self_->quit(); }

} // namespace headrace::detail
