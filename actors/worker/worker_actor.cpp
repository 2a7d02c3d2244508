#include "headrace/actors/worker/worker_actor.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace headrace {

worker_state::worker_state(port::self_pointer<handle_type> self, worker_options options,
                           address dispatcher, connector_actor connector,
                           std::shared_ptr<stream_router> router, tree_place place, logger log)
  : self_(self),
    options_(std::move(options)),
    log_(std::move(log)),
    router_(std::move(router)),
    life_{random_id()},
    watcher_(self),
    place_(std::move(place)),
    team_(self, watcher_, {.path = place_.path, .seed = life_.value},
          {.started = {},
           .ended = [this](const std::string& child,
                           const status& why) { task_down(task_named(child), why); },
           .gave_up = {},
           .dropped = [this](const std::string& child,
                             const status& why) { give_up(task_named(child), why); }},
          place_.board),
    dispatcher_(self, watcher_, std::move(connector), std::move(dispatcher),
                {
                  .on_up =
                    [this](const connection& to) {
                      unreached_ = {};
                      register_here(to);
                    },
                  .on_down =
                    [this](const status& why) {
                      log_.warn("dispatcher lost", {{"why", why}});
                    },
                  .on_failed =
                    [this](const status& why, duration) {
                      // Once for each reason: it is tried again and again.
                      if (std::exchange(unreached_, why) == why)
                        return;
                      log_.warn("dispatcher not reached", {{"why", why}});
                      if (why.code() == status_code::failed_precondition
                          && options_.on_other_version)
                        options_.on_other_version(why);
                    },
                }) {}

worker_state::~worker_state() {
  for (const auto& [id, task] : tasks_) router_->remove(id);
}

port::behavior<worker_handle> worker_state::make_behavior() {
  team_.stop_before_owner([this](std::function<void()> stop) { leave(std::move(stop)); });
  return {
    [this](const envelope& in) -> envelope {
      return in.valid() ? answer(in) : make_bad_message(++bad_messages_, in.status().message());
    },
    [this](atom::beat, uint64_t epoch) {
      if (epoch == beats_)
        beat();
    },
    [this](const local<task_report>& what) { on_report(*what); },
    [this](atom::deadline, uint64_t) { leave_now(); },
    [this](atom::supervise, uint64_t epoch) { team_.timer(epoch); },
  };
}

envelope worker_state::answer(const envelope& in) {
  const auto id = in->getRequestId();
  if (in->which() != schema::Envelope::WORKER)
    return make_unsupported(static_cast<uint16_t>(in->which()), {}, id);
  const auto what = in->getWorker();
  switch (what.which()) {
  case schema::WorkerMessage::START_TASK: return start_task(what.getStartTask(), id);
  case schema::WorkerMessage::STOP_TASK: return stop_task(what.getStopTask(), id);
  default: return make_unsupported(static_cast<uint16_t>(what.which()), "worker", id);
  }
}

} // namespace headrace
