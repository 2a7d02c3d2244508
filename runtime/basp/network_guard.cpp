#include "headrace/runtime/basp/network_guard.hpp"

namespace headrace {
namespace {

/// So that a peer that is refused time and again does not fill the log.
bool worth_a_line(uint64_t count) noexcept {
  while (count % 10 == 0) count /= 10;
  return count == 1;
}

} // namespace

void network_guard::refused(basp_refusal cause, const std::string& peer,
                            const std::string& problem) {
  const auto count = ++counts_[static_cast<size_t>(cause)];
  if (worth_a_line(count))
    options_.log.warn(
      "actor port: connection refused",
      {{"peer", peer}, {"cause", to_string(cause)}, {"count", count}, {"why", problem}});
}

basp_refusal_counters network_guard::counters() const {
  basp_refusal_counters out;
  for (size_t i = 0; i < out.size(); ++i) out[i] = counts_[i];
  return out;
}

} // namespace headrace
