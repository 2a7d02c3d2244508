#pragma once

#include "headrace/runtime/base/clock.hpp"

#include <cstdint>
#include <random>

namespace headrace::detail {

/// The pauses between repeated attempts.
struct backoff_options {
  duration first = std::chrono::milliseconds{10};
  duration longest = std::chrono::seconds{10};
  /// The factor between each pause and the previous one.
  double factor = 2;
  /// Each pause is drawn from [1 - jitter, 1 + jitter] times its length, so that many objects that
  /// failed together are not restarted together. `longest` bounds the drawn value, too.
  double jitter = 0.2;
  /// After a run of this length without a failure the pauses begin again with `first`.
  duration stable_after = std::chrono::seconds{30};
};

/// Counts failures in a row and draws the pauses. Deterministic for a given seed.
class backoff {
public:
  backoff(backoff_options options, uint64_t seed) : options_(options), random_(seed) {}

  /// The pause after a failure that followed a run of the length `lived`.
  duration failed(duration lived);
  /// Resets the count of failures.
  void reset() noexcept { failures_ = 0; }
  const backoff_options& options() const noexcept { return options_; }

private:
  backoff_options options_;
  std::mt19937_64 random_;
  uint32_t failures_ = 0; ///< in a row, without a stable run between them
};

} // namespace headrace::detail
