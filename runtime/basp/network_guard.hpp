#pragma once

#include "headrace/runtime/basp/guarded_network.hpp"

#include <array>
#include <string>

namespace headrace::detail {

namespace actor_port_metric {
/// This counter has the label `cause`.
inline constexpr counter_info refused{
  {"headrace_actor_connections_refused", "",
   "Connections of the actor port that were closed because of what they sent, or did not send, by "
   "cause."}};
} // namespace actor_port_metric

/// Counts and logs refusals. Thread-safe.
class network_guard {
public:
  explicit network_guard(guarded_network_options options);

  const guarded_network_options& options() const noexcept { return options_; }
  void refused(basp_refusal cause, const std::string& peer, const std::string& problem);

private:
  guarded_network_options options_;
  std::array<counter*, basp_refusals> counts_{}; ///< counters in `options_.metrics`
};

} // namespace headrace::detail
