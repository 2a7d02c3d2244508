#include "headrace/actors/node/roles.hpp"

#include "headrace/actors/dispatcher/dispatcher_actor.hpp"
#include "headrace/actors/job/job_actor.hpp"
#include "headrace/actors/node/dispatcher_stores.hpp"
#include "headrace/actors/node/node_supervisor.hpp"
#include "headrace/actors/node/task_hosting.hpp"
#include "headrace/actors/worker/worker_actor.hpp"
#include "headrace/runtime/node/caf_access.hpp"
#include "headrace/runtime/node/system_visit.hpp"

#include <caf/scoped_actor.hpp>

namespace headrace::detail {

namespace {

template <class Handle>
published_actor told(const std::function<void(const caf::actor&)>& listener, const Handle& fresh) {
  if (listener)
    listener(caf::actor_cast<caf::actor>(fresh));
  return caf::actor_cast<published_actor>(fresh);
}

job_keeper keep_job(caf::actor_system& system, const std::shared_ptr<dispatcher_stores>& stores,
                    const job_description& about, const logger& log) {
  const auto store = stores->of(about);
  return {
    .start = [&system, about, log, store](const std::vector<worker_change>& present) -> job_handle {
      return port::spawn<job_state>(system, about, store.value(), present, log);
    },
    .left =
      [store] {
        if (!store)
          return job_remains{};
        const auto record = (*store)->record();
        return job_remains{record.running(), record.past(), record.has_collected()};
      },
    .over = [stores, id = about.id] { stores->drop(id); },
  };
}

} // namespace

published_actor start_dispatcher(node& where, dispatcher_options options, const logger& log,
                                 role_failed failed,
                                 const std::shared_ptr<dispatcher_stores>& stores) {
  system_visit inside;
  auto& system = system_of(where);
  options.store = stores->service();
  options.disk = [stores] { return stores->disk(); };
  auto root = port::spawn<node_supervisor_state>(
    system, node_supervisor_options{
              .child = "dispatcher",
              .start =
                [&system, options, stores, log](const tree_place& place) {
                  const auto jobs = [&system, stores, log](const job_description& about) {
                    return keep_job(system, stores, about, log);
                  };
                  return told(options.on_start, port::spawn<dispatcher_state>(
                                                  system, options, job_factory{jobs}, place, log));
                },
              .gave_up = std::move(failed),
              .log = log,
            });
  adopt(where, caf::actor_cast<caf::actor>(root));
  return caf::actor_cast<published_actor>(root);
}

caf::actor start_worker(node& where, const worker_options& options, const address& dispatcher,
                        const std::shared_ptr<stream_router>& router, const logger& log,
                        role_failed failed) {
  system_visit inside;
  auto& system = system_of(where);
  auto root = port::spawn<node_supervisor_state>(
    system, node_supervisor_options{
              .child = "worker",
              .start =
                [&system, options, dispatcher, connector = connector_of(where), router,
                 log](const tree_place& place) {
                  return told(options.on_start, port::spawn<worker_state>(
                                                  system, options, dispatcher, connector, router,
                                                  host_tasks(options.tasks, log), place, log));
                },
              .gave_up = std::move(failed),
              .shutdown = options.drain + std::chrono::seconds{5},
              .log = log,
            });
  adopt(where, caf::actor_cast<caf::actor>(root));
  return caf::actor_cast<caf::actor>(root);
}

void stop_role(node& where, const caf::actor& role, duration limit) {
  system_visit inside;
  caf::scoped_actor self{system_of(where)};
  self->monitor(role);
  port::ask_to_exit(role);
  self->receive([](const caf::down_msg&) {}, caf::after(caf::timespan{limit}) >> [] {});
}

} // namespace headrace::detail
