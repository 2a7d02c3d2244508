#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace headrace {

/// The workers from which a client reads.
enum class target_workers : uint8_t {
  automatic, ///< chosen by the service
  any,       ///< all workers
  local,     ///< only the workers in the client's own process
};

/// All values that this build defines.
inline constexpr target_workers all_target_workers[]{target_workers::automatic, target_workers::any,
                                                     target_workers::local};

/// The form that users write: `auto`, `any` or `local`.
constexpr std::string_view to_string(target_workers x) noexcept {
  switch (x) {
  case target_workers::automatic: return "auto";
  case target_workers::any: return "any";
  case target_workers::local: return "local";
  }
  return "unknown";
}

/// The value with that name. `invalid_argument` names the unknown word and the valid ones.
result<target_workers> target_workers_of(std::string_view word);

} // namespace headrace
