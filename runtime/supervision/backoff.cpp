#include "headrace/runtime/supervision/backoff.hpp"

#include <algorithm>
#include <cmath>

namespace headrace::detail {

duration backoff::failed(duration lived) {
  if (lived >= options_.stable_after)
    failures_ = 0;
  ++failures_;
  auto longest = static_cast<double>(options_.longest.count());
  // The product is computed in floating point, so that many failures in a row result in infinity
  // instead of an overflow.
  auto wait =
    static_cast<double>(options_.first.count()) * std::pow(options_.factor, failures_ - 1);
  std::uniform_real_distribution<double> spread{1 - options_.jitter, 1 + options_.jitter};
  wait = std::min(wait, longest) * spread(random_);
  return duration{static_cast<duration::rep>(std::clamp(wait, 0.0, longest))};
}

} // namespace headrace::detail
