#include "headrace/actors/node/node_supervisor.hpp"

#include <utility>

namespace headrace::detail {

node_supervisor_state::node_supervisor_state(port::self_pointer<handle_type> self,
                                             node_supervisor_options options)
  : self_(self),
    alive_(self),
    options_(std::move(options)),
    watcher_(self),
    place_{std::make_shared<supervision_board>(), "node"},
    team_(self, watcher_, {.path = place_.path},
          {.started = {},
           .ended =
             [this](const std::string& id, const status& why) {
               if (!why.ok())
                 options_.log.error("restarting after a crash", {{"role", id}, {"why", why}});
             },
           .gave_up =
             [this](const status& why) {
               options_.log.error("giving up", {{"why", why}});
               if (options_.gave_up)
                 options_.gave_up(why);
               self_->quit(to_error(why));
             },
           .dropped = {}},
          place_.board) {}

port::behavior<node_supervisor_state::handle_type> node_supervisor_state::make_behavior() {
  team_.stop_before_owner();
  const auto added = team_.add(
    {.id = options_.child, .shutdown = options_.shutdown}, [this](uint64_t) -> result<caf::actor> {
      return caf::actor_cast<caf::actor>(options_.start(place_.below(options_.child)));
    });
  if (!added)
    self_->quit(to_error(added));
  return {
    [this](const envelope& in) -> caf::result<envelope> {
      if (auto child = team_.find<published_actor>(options_.child))
        return port::delegate(self_, child, in);
      return make_failure(unavailable("the " + options_.child + " is being started again"),
                          in.valid() ? in->getRequestId() : 0);
    },
    [this](atom::supervise, uint64_t epoch) { team_.timer(epoch); },
  };
}

} // namespace headrace::detail
