#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace headrace {

/// Where the workers of a service run, according to its configuration. It decides what
/// `target_workers` AUTO means.
enum class deployment_mode : uint8_t {
  remote,    ///< on hosts or in processes of their own
  colocated, ///< in the processes of trainers
  hybrid,    ///< some in processes of their own, some in trainers
};

inline constexpr deployment_mode deployment_modes[]{
  deployment_mode::remote, deployment_mode::colocated, deployment_mode::hybrid};

/// The form that users write: `remote`, `colocated` or `hybrid`.
constexpr std::string_view to_string(deployment_mode x) noexcept {
  switch (x) {
  case deployment_mode::remote: return "remote";
  case deployment_mode::colocated: return "colocated";
  case deployment_mode::hybrid: return "hybrid";
  }
  return "unknown";
}

/// The mode with that name. `invalid_argument` names the unknown word and the valid ones.
result<deployment_mode> deployment_mode_of(std::string_view word);

} // namespace headrace
