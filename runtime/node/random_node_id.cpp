#include "headrace/runtime/node/random_node_id.hpp"

#include "headrace/runtime/base/ids.hpp"

#include <cstring>
#include <unistd.h>

namespace headrace::detail {

#if HEADRACE_CAF_LEGACY

namespace {

caf::node_id random_node_id() {
  const uint64_t random[] = {random_id(), random_id(), random_id()};
  caf::node_id::default_data::host_id_type host;
  static_assert(sizeof(host) <= sizeof(random));
  std::memcpy(host.data(), random, sizeof(host));
  return caf::make_node_id(static_cast<uint32_t>(::getpid()), host);
}

/// A module that sets the name of its actor system. CAF initialises modules in the order of their
/// ids, before any actor is spawned. CAF's network module (the middleman) sets the name that is
/// replaced here; the id used here is a later one, of a module that release 0.17 does not have.
class naming : public caf::actor_system::module {
public:
  explicit naming(caf::actor_system& system) : system_(system) {}
  void start() override {}
  void stop() override {}
  void init(caf::actor_system_config&) override {
    // There is no other way to set the name; the object itself is not const.
    const_cast<caf::node_id&>(system_.node()) = random_node_id();
  }
  id_t id() const override { return network_manager; }
  void* subtype_ptr() override { return this; }

private:
  caf::actor_system& system_;
};

} // namespace

void name_at_random(caf::actor_system_config& config) {
  config.module_factories.emplace_back(
    [](caf::actor_system& system) -> caf::actor_system::module* { return new naming(system); });
}

#else

void name_at_random(caf::actor_system_config&) {} // CAF 1.1 does this itself

#endif

} // namespace headrace::detail
