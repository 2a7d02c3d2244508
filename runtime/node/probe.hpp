#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/node/address.hpp"

#include <functional>
#include <memory>

namespace headrace {

struct probe_options {
  /// The limit for name look-up, connecting and the first bytes together.
  duration limit = std::chrono::seconds{5};
  /// Expect the first bytes of an actor port of ours. Must be false if they come only after a TLS
  /// handshake.
  bool expect_greeting = true;
};

/// Tests, before the framework connects, whether somebody listens at an address, and whether it
/// sends the greeting of headrace's actor port. The framework's own connect blocks all others for
/// as long as the system waits for a connection, and reports neither.
///
/// If another program listens there, which waiting cannot change, the error is `invalid_argument`.
/// All other failures may pass.
class prober {
public:
  prober();
  /// Cancels all probes and waits for them (a name look-up cannot be cancelled).
  ~prober();

  /// Probes on a thread of its own, and calls `done` once from there. `done` is called at once with
  /// an error after `cancel`, and if no thread can be started (resource_exhausted).
  void probe(address to, probe_options options, std::function<void(status)> done);
  /// Cancels all probes, also later ones; `done` is called with `cancelled`.
  void cancel() noexcept;
  /// Cancels all probes, and waits until none of their threads is left.
  void drain();

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace headrace
