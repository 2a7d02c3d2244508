#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace headrace {

/// How blocks are packed on their way from a worker to a consumer.
enum class compression : uint8_t {
  automatic, ///< the worker chooses: none on one host, else snappy where samples of the blocks pay
  none,
  snappy,
};

/// All that this build knows.
inline constexpr compression compressions[]{compression::automatic, compression::none,
                                            compression::snappy};

/// As users write it: `auto`, `none` or `snappy`.
constexpr std::string_view to_string(compression x) noexcept {
  switch (x) {
  case compression::automatic: return "auto";
  case compression::none: return "none";
  case compression::snappy: return "snappy";
  }
  return "unknown";
}

/// Of the word that `to_string` gives; `invalid_argument` names the word and those that are known.
result<compression> compression_of(std::string_view word);

} // namespace headrace
