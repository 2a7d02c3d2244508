#include "headrace/runtime/node/node_config.hpp"

#include "headrace/runtime/basp/guarded_network.hpp"
#include "headrace/runtime/message/types.hpp"
#include "headrace/runtime/node/connect_messages.hpp"
#include "headrace/runtime/node/random_node_id.hpp"
#include "headrace/runtime/node/tls_error_queue.hpp"

#include <algorithm>
#include <caf/openssl/manager.hpp>
#include <thread>

namespace headrace::detail {

std::string_view framework_name() noexcept {
#if HEADRACE_CAF_LEGACY
  return "headrace/caf0.17";
#else
  return "headrace/caf1";
#endif
}

void configure_network(caf::actor_system_config& config, const node_options& options) {
  using port::option;
  register_runtime_types(config);
  register_node_types(config);
  if (options.message_types != nullptr)
    options.message_types(config);
  load_guarded_network(
    config, {.log = options.log, .metrics = options.metrics, .greet_within = options.lease});
  name_at_random(config);
  if (options.tls.enabled()) {
    keep_tls_errors_apart();
    config.load<caf::openssl::manager>();
    config.set(option("openssl.certificate"), options.tls.certificate);
    config.set(option("openssl.key"), options.tls.key);
    config.set(option("openssl.cafile"), options.tls.ca_file);
  }
  // Heartbeats are off by default; without them a peer that is stopped or cut off is never
  // detected.
  auto heartbeat = options.heartbeat > duration::zero() ? options.heartbeat : options.lease / 4;
  config.set(option("middleman.heartbeat-interval"), caf::timespan{heartbeat});
  config.set(option("middleman.connection-timeout"), caf::timespan{options.lease});
  config.set(option("middleman.app-identifiers"),
             std::vector<std::string>{std::string{framework_name()}});
}

void configure(caf::actor_system_config& config, const node_options& options) {
  using port::option;
  configure_network(config, options);
  auto cores = std::max<size_t>(std::thread::hardware_concurrency(), 1);
  auto threads = options.threads != 0 ? options.threads : std::min<size_t>(cores, 4);
  config.set(option("scheduler.max-threads"), threads);
  // The number of messages that an actor handles before another actor gets the thread. Without this
  // limit an actor whose mailbox never gets empty keeps its thread for ever: of 20 consumers that
  // decoded compressed elements of 16 MB, two kept the threads and were given all elements.
  config.set(option("scheduler.max-throughput"), size_t{4});
  config.set(option("scheduler.policy"), options.policy == scheduler_policy::sharing
                                           ? port::word("sharing")
                                           : port::word("stealing"));
}

} // namespace headrace::detail
