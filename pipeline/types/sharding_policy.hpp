#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace headrace {

/// How the workers of a service share a dataset.
enum class sharding_policy : uint8_t {
  off,     ///< every worker gives the whole dataset: as many copies as there are workers
  dynamic, ///< each element is given once: workers take splits of the sources as they go
};

/// All that this build knows.
inline constexpr sharding_policy sharding_policies[]{sharding_policy::off,
                                                     sharding_policy::dynamic};

/// As users write it: `off` or `dynamic`.
constexpr std::string_view to_string(sharding_policy x) noexcept {
  switch (x) {
  case sharding_policy::off: return "off";
  case sharding_policy::dynamic: return "dynamic";
  }
  return "unknown";
}

/// Of the word that `to_string` gives; `invalid_argument` names the word and those that are known.
result<sharding_policy> sharding_policy_of(std::string_view word);

} // namespace headrace
