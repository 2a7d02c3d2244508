#pragma once

#include "headrace/runtime/metrics/metric_registry.hpp"

namespace headrace::detail {

/// The metrics of a node's actor port.
namespace node_metric {
inline constexpr counter_info bad_messages{
  {"headrace_bad_messages", "",
   "Damaged messages that reached the published actor; each was answered."}};
inline constexpr counter_info hellos{
  {"headrace_peers_greeted", "", "Peers that introduced themselves."}};
inline constexpr counter_info refused_hellos{
  {"headrace_peers_refused", "", "Peers that were refused because of their major version."}};
} // namespace node_metric

struct node_metrics {
  explicit node_metrics(metric_registry& all) : registry(all) {}

  metric_registry& registry;
  counter& bad_messages = registry.get(node_metric::bad_messages);
  counter& hellos = registry.get(node_metric::hellos);
  counter& refused_hellos = registry.get(node_metric::refused_hellos);
};

} // namespace headrace::detail
