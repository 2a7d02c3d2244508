#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace headrace {

/// The guarantee of DYNAMIC if workers or trainers are lost.
enum class delivery_guarantee : uint8_t {
  /// No element is handed out twice; elements of splits that a lost worker had may be missing.
  at_most_once,
  /// No element is missing; elements that may not have been handed out are read again.
  at_least_once,
};

/// All values that this build defines.
inline constexpr delivery_guarantee delivery_guarantees[]{delivery_guarantee::at_most_once,
                                                          delivery_guarantee::at_least_once};

/// The form that users write: `at_most_once` or `at_least_once`.
constexpr std::string_view to_string(delivery_guarantee x) noexcept {
  switch (x) {
  case delivery_guarantee::at_most_once: return "at_most_once";
  case delivery_guarantee::at_least_once: return "at_least_once";
  }
  return "unknown";
}

/// The guarantee with that name. `invalid_argument` names the unknown word and the valid ones.
result<delivery_guarantee> delivery_guarantee_of(std::string_view word);

} // namespace headrace
