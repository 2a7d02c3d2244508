#pragma once

#include <cstdint>
#include <string>

namespace headrace {

/// What a process knows of the ones whose place it took.
struct process_past {
  /// How often its parent started it again.
  uint64_t restarts = 0;
  /// How the one before it ended; empty if there was none.
  std::string last_reason;

  friend bool operator==(const process_past&, const process_past&) = default;
};

} // namespace headrace
