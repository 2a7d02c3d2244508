#pragma once

#include <cstdint>
#include <string>

namespace headrace {

/// The earlier processes that this process replaces.
struct process_past {
  /// How often the parent process has restarted this process.
  uint64_t restarts = 0;
  /// How the previous process ended; empty if there was none.
  std::string last_reason;

  friend bool operator==(const process_past&, const process_past&) = default;
};

} // namespace headrace
