#pragma once

#include "headrace/runtime/supervision/snapshot.hpp"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace headrace::detail {

/// The snapshots of the supervisors of one tree, which share the board. Thread-safe.
class supervision_board {
public:
  /// Stores the snapshot of the supervisor at `now.path`, in place of its earlier one.
  void put(supervisor_snapshot now);
  /// Removes the snapshot of a supervisor that has ended.
  void erase(const std::string& path);
  /// The supervisors that are not children of another supervisor, each with all supervisors below
  /// it. The supervisor at path `p/id` is the child `id` of the supervisor at `p`.
  std::vector<supervisor_snapshot> roots() const;

private:
  mutable std::mutex mutex_;
  std::map<std::string, supervisor_snapshot> at_;
};

} // namespace headrace::detail
