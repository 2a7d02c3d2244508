#include "headrace/runtime/node/caf_access.hpp"

#include "headrace/runtime/node/door_actor.hpp"

#include <caf/io/middleman.hpp>
#include <caf/openssl/publish.hpp>

namespace headrace::detail {

caf::actor_system& system_of(node& x) { return *x.internals().system; }

std::unique_ptr<node> make_node_in(caf::actor_system& system, node_options options) {
  return std::make_unique<node>(std::make_shared<node::impl>(std::move(options), system));
}

connector_actor connector_of(node& x) { return x.internals().connector; }

void adopt(node& x, caf::actor whom) { x.internals().adopt(whom); }

result<uint16_t> listen(node& x, published_actor root) {
  system_visit inside;
  auto& in = x.internals();
  auto& options = in.options;
  HEADRACE_TRY(check_exposure(options, "the actor port"));
  auto tls = options.tls.enabled();
  uint16_t port = options.actor_port;
  caf::actor_addr before;
  {
    std::lock_guard guard{in.mutex};
    before = std::exchange(in.door, {});
    if (in.actor_port != 0)
      port = in.actor_port; // the port of the earlier actor
  }
  // The framework may not have detected yet that the earlier actor has ended, so the door of that
  // actor (which peers reach on the port, and which passes messages on to it) is removed here.
  if (before && port != 0) {
    if (auto old = caf::actor_cast<published_actor>(before)) {
      static_cast<void>(in.system->middleman().unpublish(old, port));
      port::ask_to_exit(old);
    }
  }
  auto door = port::spawn<door_state>(*in.system, std::ref(in), root);
  // The last argument, `reuse`, only means that lingering connections of an earlier process do not
  // block the port.
  auto bound = tls ? caf::openssl::publish(door, port, options.host.c_str(), true)
                   : in.system->middleman().publish(door, port, options.host.c_str(), true);
  if (!bound) {
    port::ask_to_exit(door);
    auto why = why_not_listening(options.host, port);
    return why.ok() ? to_status(bound.error()).with_context("cannot listen for actors") : why;
  }
  {
    std::lock_guard guard{in.mutex};
    in.actor_port = *bound;
    in.door = door.address();
  }
  in.adopt(caf::actor_cast<caf::actor>(root));
  in.adopt(caf::actor_cast<caf::actor>(door));
  options.log.info("listening for actors", {{"address", x.actor_address()}, {"tls", tls}});
  return *bound;
}

} // namespace headrace::detail
