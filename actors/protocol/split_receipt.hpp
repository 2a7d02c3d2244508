#pragma once

#include "headrace/actors/protocol/reader_marks.hpp"
#include "headrace/pipeline/iterator/ports.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace headrace {

/// Splits of one pass over one source, side by side.
struct split_run {
  uint32_t source = 0;
  uint64_t pass = 0;
  split_range splits;
  friend bool operator==(const split_run&, const split_run&) = default;
};

/// Runs in a receipt, at most.
constexpr size_t most_receipt_runs = size_t{1} << 18;

/// Of which splits rows of a task reached a reader, as that reader says when the task is lost or it
/// leaves. May name more than did, never less: what it does not name is read again by other tasks.
struct split_receipt {
  task_id task;
  std::vector<split_run> reached;  ///< ascending, no two of them overlap
  uint64_t from_pass = 0;          ///< of earlier passes it is not known which did
  std::optional<split_run> newest; ///< of the last row that came: one split
  /// More is named than came, as there was no room to remember all.
  bool approximate = false;
  /// Rows that came and were given back to the task.
  uint64_t given_back = 0;
  /// Their splits are not named, but for those of which other rows stayed.
  bool without_given_back = false;
  reader_marks marks; ///< where the reader is with the task's stream
  friend bool operator==(const split_receipt&, const split_receipt&) = default;
};

} // namespace headrace
