#include "headrace/client/monitor/counted_metrics.hpp"

#include "headrace/actors/worker/worker_metrics.hpp"
#include "headrace/runtime/basp/network_guard.hpp"
#include "headrace/runtime/journal/journal_metrics.hpp"
#include "headrace/runtime/link/link_metrics.hpp"
#include "headrace/runtime/node/node_metrics.hpp"

#include <memory>

namespace headrace::detail::monitor {

std::vector<std::pair<metric_info, std::string_view>> counted_metrics() {
  // Each of these objects registers the definitions of its metrics.
  metric_registry all;
  const link_metrics links{all};
  const node_metrics node{all};
  const journal_metrics journal{all};
  const worker_metrics worker{all};
  const network_guard guard{
    {.log = {}, .metrics = std::shared_ptr<metric_registry>{std::shared_ptr<void>{}, &all}}};
  return all.families();
}

} // namespace headrace::detail::monitor
