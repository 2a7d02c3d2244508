#include "headrace/actors/worker/worker_actor.hpp"

#include "headrace/actors/protocol/codec/task_codec.hpp"
#include "headrace/actors/worker/task_name.hpp"
#include "headrace/runtime/base/boot_id.hpp"
#include "headrace/runtime/node/node_metrics.hpp"
#include "headrace/schemas/text.hpp"

#include <fmt/format.h>

#include <unistd.h>
#include <utility>

namespace headrace::detail {

// This file turns messages into events for the worker's core.

namespace {

worker_core_options core_options(const worker_options& from, const address& dispatcher,
                                 incarnation life) {
  return {
    .self = {.id = {},
             .life = life,
             .data_address = from.data_address,
             .boot_id = boot_id(),
             .tags = from.tags,
             .pid = static_cast<uint32_t>(::getpid()),
             .place = from.place},
    .dispatcher = to_string(dispatcher),
    .drain = from.drain,
    .most_stuck = from.most_stuck,
    .heartbeat = from.heartbeat,
    .dispatcher_timeout = from.dispatcher_timeout,
  };
}

worker::task_counts counts_of(const task_numbers& x) {
  return {{x.elements, x.bytes, x.ignored}, x.streams, x.restarts, x.window};
}

} // namespace

worker_state::worker_state(port::self_pointer<handle_type> self, worker_options options,
                           address dispatcher, connector_actor connector,
                           std::shared_ptr<stream_router> router, host_task host, tree_place place,
                           logger log)
  : self_(self),
    options_(std::move(options)),
    log_(std::move(log)),
    router_(std::move(router)),
    host_(std::move(host)),
    life_{random_id()},
    core_(core_options(options_, dispatcher, life_)),
    watcher_(self),
    place_(std::move(place)),
    team_(self, watcher_, {.path = place_.path, .seed = life_.value},
          {.started = {},
           .ended = [this](const std::string& child,
                           const status& why) { task_down(task_named(child), why); },
           .gave_up = {},
           .dropped = [this](const std::string& child,
                             const status& why) { task_given_up(task_named(child), why); }},
          place_.board),
    count_(*options_.metrics),
    bad_messages_(options_.metrics->get(node_metric::bad_messages)),
    dispatcher_(
      self, watcher_, std::move(connector), std::move(dispatcher),
      {
        .on_up = [this](const connection&) { carry_out(core_.dispatcher_up(now())); },
        .on_down = [this](const status& why) { carry_out(core_.dispatcher_down(why, now())); },
        .on_failed = [this](const status& why,
                            duration) { carry_out(core_.dispatcher_unreached(why)); },
      },
      // The pauses are short, so that the connection is made again within a lease even after a few
      // failed attempts.
      {.longest_pause = std::chrono::milliseconds{500}}) {}

worker_state::~worker_state() {
  for (const auto& [id, task] : tasks_) router_->remove(id);
}

port::behavior<worker_handle> worker_state::make_behavior() {
  carry_out(core_.started(now()));
  team_.stop_before_owner([this](std::function<void()> stop) {
    stop_tasks_ = std::move(stop);
    carry_out(core_.leave(options_.at_once->load(), now()));
  });
  return {
    [this](const envelope& in) -> caf::result<envelope> {
      if (!in.valid())
        return make_bad_message(bad_messages_.add(), in.status().message());
      return on_request(in);
    },
    [this](const local<task_report>& what) { on_report(*what); },
    [this](const local<save_report>& what) {
      if (const auto at = saves_.find(what->id);
          at != saves_.end() && at->second.first == what->number)
        saves_.erase(at);
      carry_out(core_.save_step_ended(*what));
    },
    [this](atom::deadline, uint64_t epoch) {
      if (alarm_.due(epoch))
        carry_out(core_.timer(now()));
    },
    [this](atom::supervise, uint64_t epoch) { team_.timer(epoch); },
  };
}

caf::result<envelope> worker_state::on_request(const envelope& in) {
  const auto id = in->getRequestId();
  if (in->which() != schema::Envelope::WORKER)
    return make_unsupported(static_cast<uint16_t>(in->which()), {}, id);
  const auto what = in->getWorker();
  const request_token from{last_request_.value + 1};
  const auto handle = [&](auto event) -> caf::result<envelope> {
    last_request_ = from;
    auto promise = self_->make_response_promise<envelope>();
    requests_.emplace(from, request{in, promise});
    carry_out(event());
    return promise;
  };
  switch (what.which()) {
  case schema::WorkerMessage::START_TASK: {
    const auto order = read_task_order(what.getStartTask());
    if (!order)
      return make_failure(
        order.status().with_context(fmt::format("task {}", what.getStartTask().getTaskId())), id);
    return handle([&] { return core_.start_task(from, *order, now()); });
  }
  case schema::WorkerMessage::SAVES: carry_out(core_.saves_offered()); return make_ok(id);
  case schema::WorkerMessage::STOP_TASK: {
    const auto stop = what.getStopTask();
    return handle([&] {
      return core_.stop_task(from, task_id{stop.getTaskId()}, string_of(stop.getReason()));
    });
  }
  case schema::WorkerMessage::READERS:
    return handle([&] { return core_.name_readers(from, read_task_readers(what.getReaders())); });
  default: return make_unsupported(static_cast<uint16_t>(what.which()), "worker", id);
  }
}

void worker_state::on_report(const task_report& what) {
  worker::task_news news{.id = what.id,
                         .life = what.life,
                         .job = what.job,
                         .counts = counts_of(what.numbers),
                         .wants = {},
                         .ended = what.ended,
                         .outcome = what.outcome,
                         .unread = what.unread,
                         .by_itself = what.by_itself,
                         .held = what.held};
  if (what.wants)
    news.wants = what.wants->wish;
  carry_out(core_.task_reported(news, now()));
}

void worker_state::task_down(task_id id, const status& why) {
  const auto at = tasks_.find(id);
  if (at == tasks_.end())
    return router_->remove(id);
  at->second.actor = nullptr;
  const auto& kept = *at->second.kept;
  // A torn task has no further actor; the core then commands that its streams fail.
  if (why.ok() || kept.torn())
    router_->remove(id);
  else
    router_->crashed(id);
  carry_out(core_.task_down(id, why, kept.torn(), counts_of(kept.made())));
}

void worker_state::task_given_up(task_id id, const status& why) {
  if (const auto at = tasks_.find(id); at != tasks_.end())
    carry_out(core_.task_given_up(id, why, counts_of(at->second.kept->made())));
}

} // namespace headrace::detail
