#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/tls_options.hpp"
#include "headrace/runtime/link/link_liveness.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/metrics/metric_registry.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace caf {
class actor_system_config;
}

namespace headrace::detail {

/// The purpose of a node, which is part of its hello.
enum class node_role : uint8_t { unknown, dispatcher, worker, consumer, tool };
std::string_view to_string(node_role x) noexcept;

/// How actors get threads. `sharing`: all threads share one queue, and idle threads sleep; a
/// message from outside is handled within microseconds. `stealing`: each thread has a queue, and
/// idle threads poll; best when many actors are always busy.
enum class scheduler_policy : uint8_t { sharing, stealing };

struct node_options {
  node_role role = node_role::unknown;
  /// The address to bind. Addresses other than loopback need `tls` or `insecure`.
  std::string host = "127.0.0.1";
  /// The port for actors; 0: any free port.
  uint16_t actor_port = 0;
  /// The port for streams; 0: any free port.
  uint16_t data_port = 0;
  /// The host that is advertised to other nodes. Empty: `host`, or this machine's name if `host`
  /// stands for every address.
  std::string advertise_host;
  /// The advertised `host:port` for data, if that is not the data port itself, for instance behind
  /// address translation or a relay. Empty: the advertised host and `data_port`.
  std::string advertise_data;
  /// With TLS, both ports accept only peers with a certificate of the trusted authority, and this
  /// node presents its own.
  tls_options tls;
  /// Allows ports without TLS at addresses other than loopback. Any program that reaches such a
  /// port may use it, and the traffic of the port is not encrypted.
  bool insecure = false;

  /// A peer is lost if nothing arrives from it for this time on the connection for actors.
  duration lease = std::chrono::seconds{5};
  /// The interval of heartbeats on each connection for actors. Zero: a quarter of the lease.
  duration heartbeat = duration::zero();

  /// How each end of a data link detects that the other end no longer works.
  link_liveness liveness;

  scheduler_policy policy = scheduler_policy::sharing;
  /// The number of threads that run actors. Zero: as many as the machine has cores, at most four.
  /// (Control messages are little work, and elements do not pass through actors' mailboxes.)
  size_t threads = 0;
  /// The number of threads that send and receive data.
  int data_threads = 1;

  /// The node's log. Default: none.
  logger log;
  /// The registry for the metrics of the node and its roles; null: the node makes one.
  std::shared_ptr<metric_registry> metrics;
  /// Registers message types with the node's actor system: the types, other than those of the
  /// runtime, that the node's actors send each other. Null: there are no such types.
  void (*message_types)(caf::actor_system_config&) = nullptr;
  /// How long the node's destructor waits for actors to end, before it abandons them.
  duration stop_budget = std::chrono::seconds{2};
};

} // namespace headrace::detail
