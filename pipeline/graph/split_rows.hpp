#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace::detail {

/// Properties of a graph's rows from which it follows which splits of an interrupted run can be
/// read again.
struct split_rows {
  /// Each row descends from one split, and another run that reads the split makes the same rows. So
  /// a split of which no row arrived can be read again.
  bool apart = false;
  /// A split gives at most one row, so a split of which a row arrived is complete. Implies `apart`.
  bool single = false;
  /// Rows come in the order of their splits: when a row arrives, all rows of earlier splits have
  /// arrived before.
  bool in_order = false;
  friend bool operator==(const split_rows&, const split_rows&) = default;
};

split_rows split_rows_of(const dataset_node& graph);

} // namespace headrace::detail
