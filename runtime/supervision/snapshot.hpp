#pragma once

#include "headrace/runtime/supervision/child_spec.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace {

enum class child_state : uint8_t {
  running,
  waiting,  ///< it will be started when its pause is over
  stopping, ///< it was asked to stop, or killed
  ended,    ///< it will not be restarted
};
std::string_view to_string(child_state x) noexcept;

/// The state of a supervisor, for people.
struct supervisor_snapshot {
  struct child {
    std::string id;
    restart_policy restart = restart_policy::permanent;
    child_state state = child_state::ended;
    /// How often it was restarted.
    uint64_t restarts = 0;
    /// Why it last ended, with the chain of causes; empty if it never did, or ended normally.
    std::string last_reason;
    /// The snapshot of a child that is a supervisor itself, if it is known: one or none.
    std::vector<supervisor_snapshot> below;

    friend bool operator==(const child&, const child&) = default;
  };

  std::string path;
  supervision_strategy strategy = supervision_strategy::one_for_one;
  /// In the order in which they were added.
  std::vector<child> children;
  uint64_t restarts = 0;
  /// Children that did not end when killed.
  uint64_t abandoned = 0;

  friend bool operator==(const supervisor_snapshot&, const supervisor_snapshot&) = default;
};

} // namespace headrace
