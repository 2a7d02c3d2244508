#include "headrace/runtime/link/link_metrics.hpp"

namespace headrace::detail {

link_metrics::link_metrics(metric_registry& all) : registry(all) {
  for (size_t i = 0; i < refused.size(); ++i)
    refused[i] =
      &all.get(link_metric::refused, {{"cause", std::string{to_string(static_cast<refusal>(i))}}});
}

} // namespace headrace::detail
