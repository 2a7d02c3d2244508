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

namespace headrace::detail {

struct link_options {
  /// The id of this node in its hello. Zero: a random id is drawn.
  uint64_t node_id = 0;
  /// Identifies the host: equal on two nodes if and only if they are on the same host. Empty: the
  /// kernel's boot id.
  std::string boot_id;
  /// The role of this node, e.g. `worker`, for logs.
  std::string role;
  tls_options tls;
  link_limits limits;
  /// The longest time from the established connection to the end of the hellos, including TLS.
  duration handshake_timeout = std::chrono::seconds{5};
  /// The longest time from the call of `connect` to the established connection, including the
  /// resolution of the name.
  duration connect_timeout = std::chrono::seconds{5};
  /// The interval of pings and the longest silence, for every open link.
  link_liveness liveness;
  /// The largest number of incoming connections that are in the handshake, or were refused and are
  /// about to be closed; if there are more, the oldest is closed. Positive.
  size_t most_greeting = 64;
  /// The registry for the metrics of links; null: the service makes one.
  std::shared_ptr<metric_registry> metrics;
  /// The number of threads that send and receive bytes. Each link belongs to one of them.
  int threads = 1;
  /// Called on an I/O thread for each refused incoming connection; for logs. May be empty.
  std::function<void(const std::string& peer_address, const status& why)> on_refused;
  /// Called on an I/O thread when a listener pauses because too few descriptors are free; the
  /// listener continues when enough are free. For logs. May be empty.
  std::function<void(const status& why)> on_paused;
};

using link_accepted = std::function<void(std::shared_ptr<link>)>;
using link_connected = std::function<void(result<std::shared_ptr<link>>)>;

/// The data plane of a node: it listens, connects, and owns the threads that serve the links.
class link_service {
public:
  /// Starts the threads. Throws `error` if the TLS options are unusable (see `check_tls`), or if
  /// other options are invalid.
  explicit link_service(link_options options = {});
  /// Closes all links (`on_closed` is called for each), and stops and joins the threads. Must not
  /// be called from a handler.
  ~link_service();

  /// Listens on a numeric address, or on a name that resolves to an address of this host; port 0
  /// means any free port. Returns the port. `on_accepted` is called on an I/O thread with each link
  /// whose peer has passed the handshake; it must set the handlers, or pass the link on. While all
  /// descriptor numbers below half of the process's limit are in use, new connections wait.
  result<uint16_t> listen(const std::string& host, uint16_t port, link_accepted on_accepted);
  /// Connects and performs the handshake; `done` is called once, on an I/O thread. Errors name the
  /// address and the reason: no program listens there, no answer in time, another program listens
  /// there, another major version, no trusted certificate.
  void connect(const std::string& host, uint16_t port, link_connected done);
  /// The registry with the metrics of the links; see `link_metric`.
  const metric_registry& metrics() const;
  /// The id of this node in its hello.
  uint64_t node_id() const;

private:
  class impl;
  std::shared_ptr<impl> impl_;
};

} // namespace headrace::detail
