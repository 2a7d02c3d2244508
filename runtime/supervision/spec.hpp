#pragma once

#include "headrace/runtime/supervision/backoff.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headrace {

/// Which of a supervisor's children are restarted when one of them has to be.
enum class supervision_strategy : uint8_t {
  one_for_one,  ///< only that one
  one_for_all,  ///< all: the others are stopped first, in reverse order
  rest_for_one, ///< that one and those added after it
};

/// When a child that ended is restarted.
enum class restart_policy : uint8_t {
  permanent, ///< always
  transient, ///< unless it ended normally
  temporary, ///< never; it is forgotten
};

std::string_view to_string(supervision_strategy x) noexcept;
std::string_view to_string(restart_policy x) noexcept;

/// How many restarts within which time are borne.
struct restart_budget {
  uint32_t max_restarts = 5;
  duration within = std::chrono::seconds{30};
};

/// What a supervisor must know of a child.
struct child_spec {
  /// Unique among the supervisor's children; a part of the path that people see.
  std::string id;
  restart_policy restart = restart_policy::permanent;
  /// How long it may take to stop when asked; then it is killed.
  duration shutdown = std::chrono::seconds{5};
  /// Its restarts count against this budget and not against its supervisor's: past it the child
  /// alone is given up, and the others live on. For children that fail by what users gave them.
  std::optional<restart_budget> own_budget = {};
};

struct supervision_options {
  /// Path of the supervisor in the tree, e.g. `node/worker`.
  std::string path;
  supervision_strategy strategy = supervision_strategy::one_for_one;
  /// More restarts than this many `within` this time, and the supervisor gives up.
  uint32_t max_restarts = 5;
  duration within = std::chrono::seconds{30};
  backoff_options backoff = {};
  /// For the jitter.
  uint64_t seed = 0;
  /// How long a killed child may take to end. Then it is stuck in foreign code: it is abandoned,
  /// counted, and no longer waited for.
  duration kill_budget = std::chrono::seconds{1};
};

} // namespace headrace
