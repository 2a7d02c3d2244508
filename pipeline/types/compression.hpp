#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace headrace {

/// How workers compress blocks that they send to consumers.
enum class compression : uint8_t {
  /// The worker chooses: no compression for a consumer on the worker's host; for other consumers,
  /// snappy if samples of the blocks compress well.
  automatic,
  none,
  snappy,
};

/// All values that this build defines.
inline constexpr compression compressions[]{compression::automatic, compression::none,
                                            compression::snappy};

/// The form that users write: `auto`, `none` or `snappy`.
constexpr std::string_view to_string(compression x) noexcept {
  switch (x) {
  case compression::automatic: return "auto";
  case compression::none: return "none";
  case compression::snappy: return "snappy";
  }
  return "unknown";
}

/// The compression with that name. `invalid_argument` names the unknown word and the valid ones.
result<compression> compression_of(std::string_view word);

} // namespace headrace
