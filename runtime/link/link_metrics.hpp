#pragma once

#include "headrace/runtime/link/link_refusal.hpp"
#include "headrace/runtime/metrics/metric_registry.hpp"

#include <array>

namespace headrace::detail {

/// The metrics of a node's links.
namespace link_metric {
inline constexpr counter_info accepted{
  {"headrace_links_accepted", "", "Incoming data links whose peer passed the handshake."}};
inline constexpr counter_info connected{
  {"headrace_links_connected", "", "Outgoing data links that passed the handshake."}};
/// This counter has the label `cause`.
inline constexpr counter_info refused{
  {"headrace_links_refused", "", "Data links that were turned away or cut off, by cause."}};
inline constexpr counter_info messages_in{
  {"headrace_links_received_messages", "messages", "Whole messages that data links received."}};
inline constexpr counter_info messages_out{
  {"headrace_links_sent_messages", "messages",
   "Messages of data links that were handed to the operating system."}};
inline constexpr counter_info bytes_in{
  {"headrace_links_received_bytes", "bytes",
   "Header and payload bytes of whole messages that data links received."}};
inline constexpr counter_info bytes_out{
  {"headrace_links_sent_bytes", "bytes",
   "Header and payload bytes that data links handed to the operating system."}};
} // namespace link_metric

/// The counters of these metrics in a registry. The I/O threads add to them.
struct link_metrics {
  explicit link_metrics(metric_registry& all);

  metric_registry& registry;
  counter& accepted = registry.get(link_metric::accepted);
  counter& connected = registry.get(link_metric::connected);
  counter& messages_in = registry.get(link_metric::messages_in);
  counter& messages_out = registry.get(link_metric::messages_out);
  counter& bytes_in = registry.get(link_metric::bytes_in);
  counter& bytes_out = registry.get(link_metric::bytes_out);
  std::array<counter*, refusals> refused; ///< one counter for each reason to refuse a connection
};

} // namespace headrace::detail
