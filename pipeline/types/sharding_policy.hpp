#pragma once

#include <cstdint>
#include <string_view>

namespace headrace {

/// How the workers of a service share a dataset.
enum class sharding_policy : uint8_t {
  off,     ///< every worker gives the whole dataset: as many copies as there are workers
  dynamic, ///< each element is given once: workers take splits of the sources as they go
};

/// As users write it: `off` or `dynamic`.
constexpr std::string_view to_string(sharding_policy x) noexcept {
  switch (x) {
  case sharding_policy::off: return "off";
  case sharding_policy::dynamic: return "dynamic";
  }
  return "unknown";
}

} // namespace headrace
