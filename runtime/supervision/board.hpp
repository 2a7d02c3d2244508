#pragma once

#include "headrace/runtime/supervision/snapshot.hpp"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace headrace {

/// Where the supervisors of one process hang out what they look after. A node owns it. Thread-safe.
class supervision_board {
public:
  /// Replaces what is known of the supervisor with that path.
  void put(supervisor_snapshot now);
  /// The supervisor has ended.
  void erase(const std::string& path);
  /// The supervisors that no other supervisor's child is, each with all that is below it. A
  /// supervisor at path `p/id` is below the child `id` of the one at `p`.
  std::vector<supervisor_snapshot> roots() const;

private:
  mutable std::mutex mutex_;
  std::map<std::string, supervisor_snapshot> at_;
};

} // namespace headrace
