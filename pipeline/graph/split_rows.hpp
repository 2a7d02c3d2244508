#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace {

/// What the rows of a graph say of the splits that its sources were given: what can be known of a
/// run that was lost midway.
struct split_rows {
  /// Each row descends from one split, and a split that is read by another run gives its rows
  /// there. So one of which no row arrived may be read again.
  bool apart = false;
  /// A split gives at most one row: one of which a row arrived is whole. Implies `apart`.
  bool single = false;
  /// Rows come in the order of their splits: what was read before the split of a row has arrived.
  bool in_order = false;
  friend bool operator==(const split_rows&, const split_rows&) = default;
};

split_rows split_rows_of(const dataset_node& graph);

} // namespace headrace
