#include "headrace/actors/dispatcher/dispatcher_actor.hpp"

#include "headrace/actors/protocol/codec/dataset_codec.hpp"
#include "headrace/actors/protocol/codec/drain_codec.hpp"
#include "headrace/actors/protocol/codec/reader_codec.hpp"
#include "headrace/actors/protocol/codec/registration_codec.hpp"
#include "headrace/actors/protocol/codec/save_codec.hpp"
#include "headrace/runtime/node/node_metrics.hpp"
#include "headrace/schemas/text.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

namespace headrace::detail {

// This file turns messages into events for the core. The commands that the core returns are carried
// out in dispatcher_carry_out.cpp.

namespace {

std::string child_of(job_id id) { return fmt::format("job {:x}", id.value); }

} // namespace

dispatcher_state::dispatcher_state(port::self_pointer<handle_type> self, dispatcher_options options,
                                   job_factory jobs, tree_place place, logger log)
  : self_(self),
    options_(std::move(options)),
    jobs_(std::move(jobs)),
    log_(std::move(log)),
    watcher_(self),
    place_(std::move(place)),
    team_(self, watcher_, {.path = place_.path},
          {.started = [this](const std::string& child,
                             const caf::actor&) { carry_out(core_.job_started(job_named(child))); },
           .ended =
             [this](const std::string& child, const status& why) {
               // A dispatcher that ends stops the actors of its jobs: these jobs have not ended.
               if (ending_)
                 return;
               const auto id = job_named(child);
               if (!why.ok())
                 return carry_out(core_.job_crashed(id, why));
               const auto left = left_of(id);
               carry_out(core_.job_ended(id, left.past, left.collected));
             },
           .gave_up = {},
           .dropped =
             [this](const std::string& child, const status& why) {
               const auto id = job_named(child);
               const auto left = left_of(id);
               carry_out(core_.job_failed(id, why, left.running, left.past));
             }},
          place_.board),
    tenure_(options_.store->take_over()),
    core_({options_.timing, options_.jobs, options_.start_timeout, options_.roster,
           options_.deployment, options_.saves_a_worker},
          std::move(tenure_.record), random_id()),
    bad_messages_(options_.metrics->get(node_metric::bad_messages)),
    started_(now()) {}

port::behavior<dispatcher_state::handle_type> dispatcher_state::make_behavior() {
  team_.stop_before_owner([this](const std::function<void()>& stop) {
    ending_ = true;
    stop();
  });
  // The last facts of the previous actor may not be stored yet. The empty group counts as stored
  // only after them, so the following commands wait for them, too.
  carry_out(dispatcher_command::store{});
  carry_out(core_.start(now()));
  return {
    [this](const envelope& in) -> caf::result<envelope> {
      if (!in.valid())
        return make_bad_message(bad_messages_.add(), in.status().message());
      return receive(in);
    },
    [this](atom::deadline, uint64_t epoch) {
      if (alarm_.due(epoch))
        carry_out(core_.timer(now()));
    },
    [this](atom::stored, uint64_t group, bool kept) { after_storing(group, kept); },
    [this](atom::supervise, uint64_t epoch) { team_.timer(epoch); },
  };
}

template <class Event>
caf::result<envelope> dispatcher_state::decide(const envelope& in, Event&& event) {
  const request_token token{++last_token_};
  // The sender must be read before a promise is made, because the promise takes it out of the
  // message.
  auto sender = caf::actor_cast<published_actor>(self_->current_sender());
  auto promise = self_->make_response_promise<envelope>();
  askers_.emplace(token, asker{in, std::move(sender), promise});
  carry_out(event(token));
  return promise;
}

caf::result<envelope> dispatcher_state::receive(const envelope& in) {
  using arm = schema::DispatcherMessage;
  const auto id = in->getRequestId();
  if (in->which() != schema::Envelope::DISPATCHER)
    return make_unsupported(static_cast<uint16_t>(in->which()), {}, id);
  const auto request = in->getDispatcher();
  const auto for_job = [&](uint64_t job) {
    return decide(in, [&](request_token token) { return core_.for_job(token, job_id{job}); });
  };
  switch (request.which()) {
  case arm::REGISTER_WORKER: {
    if (!self_->current_sender())
      return make_failure(
        invalid_argument("a worker registers with a request, not with a plain message"), id);
    const auto who = read_registration(request.getRegisterWorker());
    return decide(in,
                  [&](request_token token) { return core_.register_worker(token, who, now()); });
  }
  case arm::WORKER_HEARTBEAT: {
    const auto beat = request.getWorkerHeartbeat();
    std::vector<running_task> tasks;
    for (auto task : beat.getTasks())
      tasks.push_back({task_id{task.getTaskId()}, job_id{task.getJobId()}});
    return decide(in, [&](request_token token) {
      return core_.worker_heartbeat(token, worker_id{beat.getWorkerId()},
                                    incarnation{beat.getIncarnation()}, tasks, beat.getLeaving(),
                                    now());
    });
  }
  case arm::LEAVE_SERVICE: {
    const auto bye = request.getLeaveService();
    return decide(in, [&](request_token token) {
      return core_.worker_leaves(token, worker_id{bye.getWorkerId()},
                                 incarnation{bye.getIncarnation()}, bye.getUnfinished(), now());
    });
  }
  case arm::REGISTER_DATASET:
    if (options_.disk)
      core_.disk_is(options_.disk());
    return decide(in, [&](request_token token) {
      return core_.register_dataset(token, read_dataset_registration(request.getRegisterDataset()));
    });
  case arm::GET_DATASET:
    return decide(in, [&](request_token token) {
      return core_.get_dataset(token, string_of(request.getGetDataset()));
    });
  case arm::OPEN_ITERATION: {
    const auto wanted = read_open_iteration(request.getOpenIteration());
    if (!wanted)
      return make_failure(wanted.status(), id);
    if (options_.disk)
      core_.disk_is(options_.disk());
    return decide(in, [&](request_token token) { return core_.open_iteration(token, *wanted); });
  }
  case arm::CONSUMER_HEARTBEAT: return for_job(request.getConsumerHeartbeat().getJobId());
  case arm::LEAVE_ITERATION: return for_job(request.getLeaveIteration().getJobId());
  case arm::LEASE_SPLITS: return for_job(request.getLeaseSplits().getJobId());
  case arm::TASK_ENDED: return for_job(request.getTaskEnded().getJobId());
  case arm::AWAIT_WORKERS:
    if (!self_->current_sender())
      return make_ok(id); // the sender expects no answer
    return decide(in, [&](request_token token) {
      return core_.await_workers(token, request.getAwaitWorkers());
    });
  case arm::DRAIN_WORKER: {
    if (!self_->current_sender())
      return make_failure(
        invalid_argument("to drain a worker is asked with a request, not with a plain message"),
        id);
    const auto wanted = read_drain_request(request.getDrainWorker());
    if (!wanted)
      return make_failure(wanted.status(), id);
    return decide(in,
                  [&](request_token token) { return core_.drain_worker(token, *wanted, now()); });
  }
  case arm::SAVE_DATASET:
    if (options_.disk)
      core_.disk_is(options_.disk());
    return decide(in, [&](request_token token) {
      return core_.save_dataset(token, read_save_request(request.getSaveDataset()));
    });
  case arm::AWAIT_SAVE:
    if (!self_->current_sender())
      return make_ok(id); // the sender expects no answer
    return decide(in, [&](request_token token) {
      return core_.await_save(token, save_id{request.getAwaitSave().getSaveId()},
                              request.getAwaitSave().getVersion());
    });
  case arm::ASK_SAVE_STEPS: {
    const auto asked = request.getAskSaveSteps();
    const auto what = read_save_question(asked);
    if (!what)
      return make_failure(what.status(), id);
    return decide(in, [&](request_token token) {
      return core_.ask_save_steps(token, worker_id{asked.getWorkerId()},
                                  incarnation{asked.getIncarnation()}, *what);
    });
  }
  case arm::GET_STATUS: return get_status(in);
  default: return make_unsupported(static_cast<uint16_t>(request.which()), "dispatcher", id);
  }
}

// -- the jobs' actors -------------------------------------------------------------------

job_id dispatcher_state::job_named(const std::string& child) {
  return job_id{std::strtoull(child.c_str() + child.find(' '), nullptr, 16)};
}

job_handle dispatcher_state::actor_of(job_id id) const {
  return team_.find<job_handle>(child_of(id));
}

void dispatcher_state::carry_out(const dispatcher_command::run_job& x) {
  const auto id = x.what.id;
  keepers_.insert_or_assign(id, jobs_(x.what));
  if (auto how = team_.add(
        {.id = child_of(id), .restart = restart_policy::transient, .own_budget = options_.restarts},
        [this, id](uint64_t) { return start_job(id); });
      !how)
    carry_out(core_.job_not_started(id, how));
}

void dispatcher_state::carry_out(const dispatcher_command::drop_job& x) {
  team_.remove(child_of(x.id));
  if (const auto keeper = keepers_.extract(x.id))
    keeper.mapped().over();
}

result<caf::actor> dispatcher_state::start_job(job_id id) {
  std::vector<worker_change> present;
  for (const auto& info : core_.workers().alive())
    if (auto known = workers_.find(info.id); known != workers_.end())
      present.push_back({info, known->second.handle, false});
  auto actor = caf::actor_cast<caf::actor>(keepers_.at(id).start(present));
  if (options_.on_job)
    options_.on_job(actor);
  return actor;
}

job_remains dispatcher_state::left_of(job_id id) const {
  const auto keeper = keepers_.find(id);
  return keeper != keepers_.end() ? keeper->second.left() : job_remains{};
}

} // namespace headrace::detail
