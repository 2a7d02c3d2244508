#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace headrace {

/// What DYNAMIC guarantees when workers or trainers are lost.
enum class delivery_guarantee : uint8_t {
  /// No element comes twice; elements of which a lost worker had a part may be missing.
  at_most_once,
  /// No element is missing; elements that may not have been handed out are read again.
  at_least_once,
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

/// The guarantee with that name. `invalid_argument` names the word and the known ones.
result<delivery_guarantee> delivery_guarantee_of(std::string_view word);

} // namespace headrace
