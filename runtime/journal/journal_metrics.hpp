#pragma once

#include "headrace/runtime/metrics/metric_registry.hpp"

#include <array>

namespace headrace::detail {

/// The metrics of a journal.
namespace journal_metric {
inline constexpr counter_info records{
  {"headrace_journal_records", "", "Records of changes of the state that were kept on the disk."}};
inline constexpr counter_info bytes{
  {"headrace_journal_bytes", "bytes", "Bytes of the records that were kept on the disk."}};
inline constexpr std::array<double, 9> commit_bounds{0.0003, 0.001, 0.003, 0.01, 0.03,
                                                     0.1,    0.3,   1,     3};
inline constexpr histogram_info commit{
  {"headrace_journal_commit_seconds", "seconds",
   "Time that a commit took, with its sync; each keeps all records that wait."},
  commit_bounds};
} // namespace journal_metric

struct journal_metrics {
  explicit journal_metrics(metric_registry& all) : registry(all) {}

  metric_registry& registry;
  counter& records = registry.get(journal_metric::records);
  counter& bytes = registry.get(journal_metric::bytes);
  histogram& commit = registry.get(journal_metric::commit);
};

} // namespace headrace::detail
