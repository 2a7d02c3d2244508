#include "headrace/runtime/link/link_metrics.hpp"

namespace headrace::detail {

link_metrics::link_metrics(metric_registry& all)
  : accepted(all.get(link_metric::accepted)),
    connected(all.get(link_metric::connected)),
    messages_in(all.get(link_metric::messages_in)),
    messages_out(all.get(link_metric::messages_out)),
    bytes_in(all.get(link_metric::bytes_in)),
    bytes_out(all.get(link_metric::bytes_out)) {
  for (size_t i = 0; i < refused.size(); ++i)
    refused[i] =
      &all.get(link_metric::refused, {{"cause", std::string{to_string(static_cast<refusal>(i))}}});
}

} // namespace headrace::detail
