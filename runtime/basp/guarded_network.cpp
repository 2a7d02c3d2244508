#include "headrace/runtime/basp/guarded_network.hpp"

#include <caf/io/middleman.hpp>

#if HEADRACE_CAF_LEGACY
#  include "headrace/runtime/basp/guarded_broker.hpp"

#  include <caf/io/network/default_multiplexer.hpp>
#endif

namespace headrace::detail {

#if HEADRACE_CAF_LEGACY

namespace {

/// The framework's network with `guarded_broker` as its broker.
class guarded_middleman final : public caf::io::middleman {
public:
  guarded_middleman(caf::actor_system& system, guarded_network_options options)
    : middleman(system), guard_(std::move(options)), backend_(&system) {}

  void start() override {
    // The framework uses the broker with this name if there is one.
    named_broker<guarded_broker>(port::word("BASP"));
    middleman::start();
  }
  caf::io::network::multiplexer& backend() override { return backend_; }
  network_guard& guard() noexcept { return guard_; }

private:
  network_guard guard_;
  caf::io::network::default_multiplexer backend_;
};

} // namespace

network_guard& guard_of(caf::actor_system& system) {
  return dynamic_cast<guarded_middleman&>(system.middleman()).guard();
}

void load_guarded_network(caf::actor_system_config& config, guarded_network_options options) {
  config.module_factories.emplace_back(
    [options = std::move(options)](caf::actor_system& system) -> caf::actor_system::module* {
      return new guarded_middleman(system, options);
    });
}

#else

void load_guarded_network(caf::actor_system_config& config, guarded_network_options) {
  config.load<caf::io::middleman>();
}

#endif

} // namespace headrace::detail
