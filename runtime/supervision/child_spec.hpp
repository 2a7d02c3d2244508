#pragma once

#include "headrace/runtime/supervision/backoff.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headrace::detail {

/// Which of a supervisor's other children are restarted when one child is restarted.
enum class supervision_strategy : uint8_t {
  one_for_one,  ///< no other child
  one_for_all,  ///< all other children: they are stopped first, in reverse order
  rest_for_one, ///< the children that were added after the restarted one
};

/// Whether a child that ended is restarted.
enum class restart_policy : uint8_t {
  permanent, ///< always
  transient, ///< unless it ended normally
  temporary, ///< never; it is removed
};

std::string_view to_string(supervision_strategy x) noexcept;
std::string_view to_string(restart_policy x) noexcept;

/// A bound on restarts: at most this number within this time.
struct restart_budget {
  uint32_t max_restarts = 5;
  duration within = std::chrono::seconds{30};
};

/// The properties of a child.
struct child_spec {
  /// Unique among the supervisor's children; a part of the path in messages.
  std::string id;
  restart_policy restart = restart_policy::permanent;
  /// How long the child may take to end after it was requested to stop; then it is killed.
  duration shutdown = std::chrono::seconds{5};
  /// If set, the child's restarts count against this budget and not against that of its supervisor.
  /// If the child exceeds the budget, only this child is removed. This is meant for children whose
  /// failures are caused by the users' code or data.
  std::optional<restart_budget> own_budget = {};
};

struct supervision_options {
  /// The path of the supervisor in the tree, e.g. `node/worker`.
  std::string path;
  supervision_strategy strategy = supervision_strategy::one_for_one;
  /// If more restarts than this number are needed within the time `within`, the supervisor gives
  /// up.
  uint32_t max_restarts = 5;
  duration within = std::chrono::seconds{30};
  backoff_options backoff = {};
  /// The seed of the jitter.
  uint64_t seed = 0;
  /// How long a killed child may take to end. After that it counts as stuck in foreign code: it is
  /// abandoned and counted, and the supervisor does not wait for it.
  duration kill_budget = std::chrono::seconds{1};
};

} // namespace headrace::detail
