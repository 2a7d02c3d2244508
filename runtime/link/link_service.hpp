#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/base/tls_options.hpp"
#include "headrace/runtime/link/link.hpp"
#include "headrace/runtime/link/link_liveness.hpp"
#include "headrace/runtime/link/link_refusal.hpp"
#include "headrace/runtime/metrics/metric_registry.hpp"

#include <functional>
#include <memory>
#include <string>

namespace headrace {

struct link_options {
  /// Who we are, as told to every peer. Zero: a random one is drawn.
  uint64_t node_id = 0;
  /// Tells hosts apart: equal on two nodes means the same host. Empty: the kernel's boot id.
  std::string boot_id;
  /// What we are, e.g. `worker`: for logs.
  std::string role;
  tls_options tls;
  link_limits limits;
  /// From the accepted or established connection to the end of the hellos; TLS included.
  duration handshake_timeout = std::chrono::seconds{5};
  /// From the call of `connect` to the established connection, name look-up included.
  duration connect_timeout = std::chrono::seconds{5};
  /// Of every link, once it is open.
  link_liveness liveness;
  /// How many incoming connections may be in the handshake at a time; with one more the oldest is
  /// closed. Positive.
  size_t most_greeting = 64;
  /// Where links count; null: in a registry of their own.
  std::shared_ptr<metric_registry> metrics;
  /// Threads that move bytes. A link stays with one of them.
  int threads = 1;
  /// Called on an I/O thread for each incoming connection that was turned away; for logs. May be
  /// empty.
  std::function<void(const std::string& peer_address, const status& why)> on_refused;
  /// Called on an I/O thread when a listener stops accepting because too few descriptors are left;
  /// it goes on as soon as there are. For logs. May be empty.
  std::function<void(const status& why)> on_paused;
};

using link_accepted = std::function<void(std::shared_ptr<link>)>;
using link_connected = std::function<void(result<std::shared_ptr<link>>)>;

/// The data plane of a node: listens, connects, and owns the threads that serve the links.
class link_service {
public:
  /// Starts the threads. Throws `error` if the TLS options are unusable (see `check_tls`), or those
  /// of liveness contradict each other.
  explicit link_service(link_options options = {});
  /// Closes all links (each hears `on_closed`), stops and joins. Not to be called from a handler.
  ~link_service();

  /// Listens on a numeric address or a name that resolves to one of this machine; port 0 picks a
  /// free one. Returns the port. `on_accepted` is called on an I/O thread with each link whose peer
  /// passed the handshake; it sets the handlers or passes the link on to who does. While half of
  /// the process's descriptors are in use, new connections wait.
  result<uint16_t> listen(const std::string& host, uint16_t port, link_accepted on_accepted);
  /// Connects and shakes hands; `done` is called once, on an I/O thread. Errors name the address:
  /// nobody listens, no answer in time, something else listens, another major version, no trust.
  void connect(const std::string& host, uint16_t port, link_connected done);
  /// Where it counts; see `link_metric`.
  const metric_registry& metrics() const;
  /// Our own identity as told to peers.
  uint64_t node_id() const;

private:
  class impl;
  std::shared_ptr<impl> impl_;
};

} // namespace headrace
