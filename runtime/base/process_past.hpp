#pragma once

#include <cstdint>
#include <string>

namespace headrace {

/// The earlier processes in whose place this one runs.
struct process_past {
  /// How often its parent process has restarted it.
  uint64_t restarts = 0;
  /// How the previous process ended; empty if there was none.
  std::string last_reason;

  friend bool operator==(const process_past&, const process_past&) = default;
};

} // namespace headrace
