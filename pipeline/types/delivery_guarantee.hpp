#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace headrace {

/// What DYNAMIC promises where workers or trainers are lost.
enum class delivery_guarantee : uint8_t {
  at_most_once,  ///< no element comes twice; what a lost worker had in part may be missing
  at_least_once, ///< no element is missing; what may not have been handed out is read again
};

/// All that this build knows.
inline constexpr delivery_guarantee delivery_guarantees[]{delivery_guarantee::at_most_once,
                                                          delivery_guarantee::at_least_once};

/// As users write it: `at_most_once` or `at_least_once`.
constexpr std::string_view to_string(delivery_guarantee x) noexcept {
  switch (x) {
  case delivery_guarantee::at_most_once: return "at_most_once";
  case delivery_guarantee::at_least_once: return "at_least_once";
  }
  return "unknown";
}

/// Of the word that `to_string` gives; `invalid_argument` names the word and those that are known.
result<delivery_guarantee> delivery_guarantee_of(std::string_view word);

} // namespace headrace
