#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/tls_options.hpp"
#include "headrace/runtime/link/link_liveness.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/metrics/metric_registry.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace headrace {

/// The purpose of a node, as in its hello.
enum class node_role : uint8_t { unknown, dispatcher, worker, consumer, tool };
std::string_view to_string(node_role x) noexcept;

/// How actors get threads. `sharing`: one queue, idle threads sleep; a message from outside is
/// handled within microseconds. `stealing`: a queue a thread, idle threads poll; best when many
/// actors are always busy.
enum class scheduler_policy : uint8_t { sharing, stealing };

struct node_options {
  node_role role = node_role::unknown;
  /// Address to bind. Anything but loopback needs `tls` or `insecure`.
  std::string host = "127.0.0.1";
  /// The port for actors; 0 takes a free one.
  uint16_t actor_port = 0;
  /// The port for streams; 0 takes a free one.
  uint16_t data_port = 0;
  /// The host that is advertised to other nodes. Empty: `host`, or this machine's name if `host`
  /// stands for every address.
  std::string advertise_host;
  /// The advertised `host:port` for data, if that is not our data port itself: behind address
  /// translation, or a relay. Empty: the advertised host and `data_port`.
  std::string advertise_data;
  /// With TLS, both ports accept only peers with a certificate of our authority, and we present
  /// ours.
  tls_options tls;
  /// Allows ports off loopback without TLS, which anybody may use and read.
  bool insecure = false;

  /// A peer that is silent for this long is lost.
  duration lease = std::chrono::seconds{5};
  /// How often an idle connection sends a heartbeat. Zero: a quarter of the lease.
  duration heartbeat = duration::zero();

  /// How the ends of a data link detect that the other is gone.
  link_liveness liveness;

  scheduler_policy policy = scheduler_policy::sharing;
  /// Threads that run actors. Zero: as many as the machine has cores, at most four (control is
  /// little work; elements do not pass through actors' mailboxes).
  size_t threads = 0;
  /// Threads that move data bytes.
  int data_threads = 1;

  /// The node's log. Default: none.
  logger log;
  /// The registry for the metrics of the node and its roles; null: a registry of its own.
  std::shared_ptr<metric_registry> metrics;
  /// How long the destructor waits for actors to end, before it abandons them.
  duration stop_budget = std::chrono::seconds{2};
};

} // namespace headrace
