#pragma once

#include "headrace/runtime/metrics/metric_registry.hpp"

#include <array>

namespace headrace::detail {

/// The metrics of a worker, in addition to those of its node.
namespace worker_metric {
inline constexpr gauge_info tasks{{"headrace_worker_tasks", "", "Tasks that the worker runs."}};
inline constexpr gauge_info stuck_threads{
  {"headrace_worker_stuck_threads", "",
   "Threads that were asked to stop and hang in foreign code."}};
inline constexpr std::array<double, 8> answer_bounds{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3};
inline constexpr histogram_info heartbeat_answer{
  {"headrace_worker_heartbeat_answer_seconds", "seconds",
   "Time until the dispatcher answered a heartbeat of the worker."},
  answer_bounds};
} // namespace worker_metric

struct worker_metrics {
  explicit worker_metrics(metric_registry& all) : registry(all) {}

  metric_registry& registry;
  gauge& tasks = registry.get(worker_metric::tasks);
  gauge& stuck_threads = registry.get(worker_metric::stuck_threads);
  histogram& heartbeat_answer = registry.get(worker_metric::heartbeat_answer);
};

} // namespace headrace::detail
