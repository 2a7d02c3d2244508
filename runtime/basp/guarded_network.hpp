#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/basp/basp_refusal.hpp"
#include "headrace/runtime/caf/port.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/metrics/metric_registry.hpp"

#include <cstdint>
#include <memory>

namespace headrace::detail {

struct guarded_network_options {
  /// The log for refusals: of each cause the first, the tenth, the hundredth and so on are logged.
  logger log;
  /// The registry for the metrics of refusals (`actor_port_metric`); null: a registry of its own.
  std::shared_ptr<metric_registry> metrics;
  /// The time within which a new connection must send its handshake.
  duration greet_within = std::chrono::seconds{5};
  /// The most connections that have not sent a handshake; if there are more, the oldest is closed.
  size_t most_ungreeted = 64;
  /// The most bytes that may wait to be written to a peer when the peer sends a frame; if there are
  /// more, the connection is closed.
  size_t most_unread_bytes = size_t{256} << 20;
};

/// Loads the framework's network into an actor system, with a check (basp_frame_check) of every
/// frame that arrives on its connections, with TLS or without. The network of release 1.1 is loaded
/// without this check.
void load_guarded_network(caf::actor_system_config& config, guarded_network_options options);

} // namespace headrace::detail
