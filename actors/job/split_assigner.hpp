#pragma once

#include "headrace/pipeline/graph/split_plan.hpp"
#include "headrace/pipeline/iterator/ports.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace headrace {

/// A task wants splits of a source. All that it had of this source and pass before are read.
struct lease_request {
  task_id task;
  uint32_t source = 0;
  uint64_t pass = 0;
  std::optional<uint64_t> total; ///< splits in a pass, if the task knows
};

/// Leases the splits of one repetition of a job: the core of DYNAMIC.
///
/// Ranges by guided self-scheduling: what is left over twice the tasks, down to one as a source
/// runs out. Sources of one group are leased jointly as equal ranges; zipped ones that do not
/// advance together in small pieces. A pass of a source is over for a task only when no other task
/// holds unread splits of it. Pure.
class split_assigner {
public:
  explicit split_assigner(const split_plan& plan);

  /// How many tasks share the splits.
  void set_tasks(size_t n) noexcept { tasks_ = n; }

  struct outcome {
    bool wait = false; ///< ask again when something changed
    std::optional<split_range> splits; ///< nullopt: the pass is over
  };
  /// `blocked`: tasks whose requests wait, so that nobody waits for them.
  outcome lease(const lease_request& wanted, const std::set<task_id>& blocked);
  /// What it held is lost or read.
  void task_gone(task_id who);
  /// Splits leased so far.
  uint64_t leased() const noexcept { return leased_; }

private:
  using key = std::pair<uint64_t, uint32_t>; ///< pass, group
  struct pass_state {
    uint64_t next = 0;
    std::optional<uint64_t> total;
  };
  /// What one task has of one pass of one group.
  struct holding {
    std::vector<split_range> ranges;
    std::map<uint32_t, size_t> given; ///< by source: how many of the ranges it was told
    std::set<uint32_t> done;          ///< sources that were told the end
    bool unread(uint32_t source) const;
  };
  uint32_t group_of(uint32_t source) const noexcept;
  /// Read side by side with others that advance at another pace.
  bool in_pairs(uint32_t group) const noexcept;

  split_plan plan_;
  size_t tasks_ = 1;
  std::map<uint32_t, std::optional<uint64_t>> group_totals_;
  std::map<key, pass_state> passes_;
  std::map<key, std::map<task_id, holding>> holdings_;
  uint64_t leased_ = 0;
};

} // namespace headrace
