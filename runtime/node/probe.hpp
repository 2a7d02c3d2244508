#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/node/address.hpp"

#include <functional>
#include <memory>

namespace headrace {

struct probe_options {
  /// For name look-up, connecting and the first bytes together.
  duration limit = std::chrono::seconds{5};
  /// Expect the first bytes of an actor port of ours. False when they come only after a TLS
  /// handshake.
  bool expect_greeting = true;
};

/// Looks before the framework leaps: whether somebody listens at an address, and whether it greets
/// like an actor port of headrace. The framework's own connect blocks all others for as long as the
/// system lets a connect wait, and says neither of the two.
///
/// What is certain, and no waiting can heal, is `invalid_argument`: something else listens there.
/// All other failures may pass.
class prober {
public:
  prober();
  /// Cancels what is under way and waits for it (a name look-up cannot be cancelled).
  ~prober();

  /// Probes on a thread of its own; `done` is called once, from there. At once, with why not, after
  /// `cancel` and where the system gives no thread (resource_exhausted).
  void probe(address to, probe_options options, std::function<void(status)> done);
  /// Cancels all probes, also later ones; each is `done` with `cancelled`.
  void cancel() noexcept;
  /// Cancels, and waits until no thread of a probe is left.
  void drain();

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace headrace
