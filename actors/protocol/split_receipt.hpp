#pragma once

#include "headrace/actors/protocol/reader_marks.hpp"
#include "headrace/pipeline/iterator/ports.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace headrace::detail {

/// Consecutive splits of one pass of one source.
struct split_run {
  uint32_t source = 0;
  uint64_t pass = 0;
  split_range splits;
  friend bool operator==(const split_run&, const split_run&) = default;
};

/// The most runs of a receipt.
constexpr size_t most_receipt_runs = size_t{1} << 18;

/// A reader's report of the splits of which rows of a task reached it. It is sent when the task is
/// lost or the reader leaves. It may name splits that did not reach the reader. From `from_pass` on
/// it omits none that did, because splits that it does not name are read again by other tasks.
struct split_receipt {
  task_id task;
  std::vector<split_run> reached;  ///< ascending, without overlaps
  uint64_t from_pass = 0;          ///< splits of earlier passes are not recorded
  std::optional<split_run> newest; ///< the split of the last row that arrived
  /// True: to stay small, the receipt also names splits of which no row reached the reader.
  bool approximate = false;
  /// The number of rows that were given back to the task.
  uint64_t given_back = 0;
  /// True: splits of rows that were given back are named only if other rows of them were kept.
  bool without_given_back = false;
  reader_marks marks; ///< the position of the reader in the task's stream
  friend bool operator==(const split_receipt&, const split_receipt&) = default;
};

} // namespace headrace::detail
