#include "headrace/runtime/basp/network_guard.hpp"

namespace headrace::detail {
namespace {

/// True for 1, 10, 100 and so on, which bounds the number of log lines about refusals of one cause.
bool worth_a_line(uint64_t count) noexcept {
  while (count % 10 == 0) count /= 10;
  return count == 1;
}

} // namespace

network_guard::network_guard(guarded_network_options options) : options_(std::move(options)) {
  if (!options_.metrics)
    options_.metrics = std::make_shared<metric_registry>();
  for (size_t i = 0; i < counts_.size(); ++i)
    counts_[i] =
      &options_.metrics->get(actor_port_metric::refused,
                             {{"cause", std::string{to_string(static_cast<basp_refusal>(i))}}});
}

void network_guard::refused(basp_refusal cause, const std::string& peer,
                            const std::string& problem) {
  const auto count = counts_[static_cast<size_t>(cause)]->add();
  if (worth_a_line(count))
    options_.log.warn(
      "actor port: connection refused",
      {{"peer", peer}, {"cause", to_string(cause)}, {"count", count}, {"why", problem}});
}

} // namespace headrace::detail
