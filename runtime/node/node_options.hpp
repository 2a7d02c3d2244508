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

/// What a node is there for, as it tells its peers.
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
  /// Where actors are reached; 0 takes a free port.
  uint16_t actor_port = 0;
  /// Where streams are reached; 0 takes a free port.
  uint16_t data_port = 0;
  /// The host that others are told to connect to. Empty: `host`, or this machine's name if `host`
  /// stands for every address.
  std::string advertise_host;
  /// `host:port` that others are told to connect to for data, where that is not our data port
  /// itself: behind address translation, or a relay. Empty: the advertised host and `data_port`.
  std::string advertise_data;
  /// Both ports serve only who presents a certificate of our authority, and we present ours.
  tls_options tls;
  /// Allows ports off loopback that anybody may use and read along.
  bool insecure = false;

  /// A peer that is silent for this long is lost.
  duration lease = std::chrono::seconds{5};
  /// How often an idle connection shows that it lives. Zero: a quarter of the lease.
  duration heartbeat = duration::zero();

  /// How the ends of a data link find out that the other is gone.
  link_liveness liveness;

  scheduler_policy policy = scheduler_policy::sharing;
  /// Threads that run actors. Zero: as many as the machine has cores, at most four (control is
  /// little work; elements do not pass through actors' mailboxes).
  size_t threads = 0;
  /// Threads that move data bytes.
  int data_threads = 1;

  /// Where the node's events go. Default: nowhere.
  logger log;
  /// Where the node, and what runs in it, counts; null: in a registry of its own.
  std::shared_ptr<metric_registry> metrics;
  /// How long the destructor waits for actors to end, before it leaves them behind.
  duration stop_budget = std::chrono::seconds{2};
};

} // namespace headrace
