#pragma once

#include "headrace/runtime/message/types.hpp"
#include "headrace/runtime/node/nearest_transport.hpp"
#include "headrace/runtime/node/node.hpp"
#include "headrace/runtime/node/node_metrics.hpp"
#include "headrace/runtime/node/peer.hpp"
#include "headrace/runtime/node/probe.hpp"

#include <mutex>
#include <vector>

namespace headrace::detail {

/// The parts of a node. Members are destroyed from the last to the first: actors end before the
/// links and the log that they use.
struct node::impl {
  struct config final : caf::actor_system_config {};

  explicit impl(node_options given);
  /// For a system that another owner has made and configured.
  impl(node_options given, caf::actor_system& lent);
  ~impl();
  void add_transports();

  /// The hello of this node.
  hello self() const;
  /// The host that is advertised to other nodes.
  std::string advertised_host() const;
  /// Requests the connector and all adopted actors to end. Returns at once.
  void begin_stop();
  void adopt(const caf::actor& whom);

  node_options options;
  uint64_t id;
  node_metrics count;

  std::shared_ptr<link_service> links;
  transport_registry transports;

  mutable std::mutex mutex;
  uint16_t actor_port = 0; ///< 0: not published
  uint16_t data_port = 0;  ///< 0: not listening
  caf::actor_addr door;
  std::vector<caf::actor_addr> adopted;
  /// In a system of another owner: actors that were requested to end and may still use this object.
  std::vector<caf::actor> ending;

  prober probes; ///< used by the connector until the system has ended
  config system_config;
  std::unique_ptr<caf::actor_system> owned_system;
  caf::actor_system* system = nullptr;
  connector_actor connector;
};

/// An error if binding `options.host` would make the port reachable from other hosts, unless the
/// options allow that. `what`: the port, for the message.
status check_exposure(const node_options& options, const std::string& what);

/// The reason why this node cannot listen at `host:port`, for instance that the port is in use, the
/// address does not belong to this host, or a permission is missing. Ok if it can listen there.
status why_not_listening(const std::string& host, uint16_t port);

} // namespace headrace::detail
