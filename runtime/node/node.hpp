#pragma once

#include "headrace/runtime/base/address.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/link/link_service.hpp"
#include "headrace/runtime/link/transport_registry.hpp"
#include "headrace/runtime/node/node_options.hpp"

#include <memory>
#include <string>

namespace headrace::detail {

/// A process's part in a service: its actor system, data links and log. It has no global state;
/// tests make several nodes in one process. Functions that need the actor framework's types
/// (publishing an actor, connecting to one) are in caf_access.hpp and caf_connect.hpp.
class node {
public:
  /// Throws `error` if the options contradict each other or the TLS files are unusable.
  explicit node(node_options options = {});
  /// As the constructor, but returns the error.
  static result<std::unique_ptr<node>> make(node_options options);
  /// Ends the actors that were published or adopted, closes the links, and waits for at most the
  /// stop budget; actors that have not ended by then are mentioned in the log and abandoned.
  ~node();
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  /// The node that parts of one process share by default: made by the first call, destroyed with
  /// its last owner. `options` are used only by the call that makes it. Fails in a child that was
  /// forked while the node existed, because the node's threads do not exist in the child.
  static result<std::shared_ptr<node>> process(node_options options = {});

  const node_options& options() const noexcept;
  /// The node's id: a random number, not zero, and different in each node.
  uint64_t id() const noexcept;
  const logger& log() const noexcept;

  /// The `host:port` to which other nodes connect for the published actor; empty before one is
  /// published.
  std::string actor_address() const;
  uint16_t actor_port() const noexcept;

  /// Starts to accept links on the data port. If the port is in use, the error names it.
  status listen_data(link_accepted on_accepted);
  /// The `host:port` of the data port for other nodes; empty before `listen_data`.
  std::string data_address() const;
  uint16_t data_port() const noexcept;
  link_service& links() noexcept;
  /// The transports that connect links to other nodes, by name: `link`, `nearest` (see
  /// nearest_transport), and the transports that were added.
  transport_registry& transports() noexcept;

  /// The metrics of the node (`node_metric`), its links (`link_metric`), its actor port
  /// (`actor_port_metric`) and its roles.
  const std::shared_ptr<metric_registry>& metrics() const noexcept;

  /// `impl` and the next two members are public only for the headers that give access to the
  /// framework.
  struct impl;
  impl& internals() noexcept { return *impl_; }
  explicit node(std::shared_ptr<impl> made);

private:
  std::shared_ptr<impl> impl_;
};

} // namespace headrace::detail
