#pragma once

#include "headrace/runtime/base/address.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <functional>
#include <memory>

namespace headrace::detail {

struct probe_options {
  /// The limit for the resolution of the name, the connection and the first bytes together.
  duration limit = std::chrono::seconds{5};
  /// True: the probe waits for the first bytes of a headrace actor port. Must be false if these
  /// arrive only after a TLS handshake.
  bool expect_greeting = true;
};

/// Tests, before the framework connects, whether a program listens at an address, and whether it
/// sends the first bytes of a headrace actor port. The framework's own connect reports neither of
/// these facts, and blocks all its other connects for as long as the operating system waits for a
/// connection.
///
/// If another program listens there, which waiting cannot change, the error is `invalid_argument`.
/// All other failures may be temporary.
class prober {
public:
  prober();
  /// Cancels all probes and waits for their ends (the resolution of a name cannot be cancelled).
  ~prober();

  /// Probes on a thread of its own, and calls `done` once from there. `done` is called at once with
  /// an error after `cancel`, and if no thread can be started (resource_exhausted).
  void probe(address to, probe_options options, std::function<void(status)> done);
  /// Cancels all probes, also later ones; `done` is called with `cancelled`.
  void cancel() noexcept;
  /// Cancels all probes, and waits until all of their threads have ended.
  void drain();

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace headrace::detail
