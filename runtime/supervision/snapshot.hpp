#pragma once

#include "headrace/runtime/supervision/child_spec.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::detail {

enum class child_state : uint8_t {
  running,
  waiting,  ///< the child will be started when its pause is over
  stopping, ///< the child was requested to stop, or killed
  ended,    ///< the child will not be restarted
};
std::string_view to_string(child_state x) noexcept;

/// The state of a supervisor, for users.
struct supervisor_snapshot {
  struct child {
    std::string id;
    restart_policy restart = restart_policy::permanent;
    child_state state = child_state::ended;
    /// The number of restarts of the child.
    uint64_t restarts = 0;
    /// The reason for the child's last end that its supervisor had not requested, with the chain of
    /// causes; empty if there was no such end, or it was a normal end. For a child that was
    /// abandoned: a text that reports this.
    std::string last_reason;
    /// The snapshot of the child if it is a supervisor itself and has a snapshot: one or none.
    std::vector<supervisor_snapshot> below;

    friend bool operator==(const child&, const child&) = default;
  };

  std::string path;
  supervision_strategy strategy = supervision_strategy::one_for_one;
  /// The children in the order in which they were added.
  std::vector<child> children;
  uint64_t restarts = 0;
  /// The number of children that did not end when they were killed.
  uint64_t abandoned = 0;

  friend bool operator==(const supervisor_snapshot&, const supervisor_snapshot&) = default;
};

} // namespace headrace::detail
