#pragma once

#include "headrace/runtime/message/types.hpp"
#include "headrace/runtime/node/nearest_transport.hpp"
#include "headrace/runtime/node/node.hpp"
#include "headrace/runtime/node/node_metrics.hpp"
#include "headrace/runtime/node/peer.hpp"
#include "headrace/runtime/node/probe.hpp"

#include <mutex>
#include <vector>

namespace headrace {

/// What a node is made of. Members are destroyed from the last to the first: actors end before the
/// links and the log they use.
struct node::impl {
  struct config final : caf::actor_system_config {};

  explicit impl(node_options given);
  /// Lives in a system that somebody else owns and has configured.
  impl(node_options given, caf::actor_system& lent);
  ~impl();
  void add_transports();

  /// What this node says of itself.
  hello self() const;
  /// The host that others are told.
  std::string advertised_host() const;
  /// Asks everybody to end. Returns at once.
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
  /// In a lent system: who was asked to end and may still use this object.
  std::vector<caf::actor> ending;

  prober probes; ///< the connector asks it until the system is gone
  config system_config;
  std::unique_ptr<caf::actor_system> owned_system;
  caf::actor_system* system = nullptr;
  connector_actor connector;
};

/// Refuses to bind `host` where anybody could reach it, unless that is meant.
status check_exposure(const node_options& options, const std::string& what);

/// Why `host:port` cannot be listened at: in use, not an address of this host, not allowed.
status why_not_listening(const std::string& host, uint16_t port);

} // namespace headrace
