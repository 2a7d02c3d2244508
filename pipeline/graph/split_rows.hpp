#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace {

/// What the origins of a graph's rows show about a run that was lost midway.
struct split_rows {
  /// Each row descends from one split, and a split that is read by another run gives the same rows
  /// there. So a split of which no row arrived can be read again.
  bool apart = false;
  /// A split gives at most one row, so that a split of which a row arrived is complete. Implies
  /// `apart`.
  bool single = false;
  /// Rows come in the order of their splits: rows of earlier splits than that of a row have
  /// arrived.
  bool in_order = false;
  friend bool operator==(const split_rows&, const split_rows&) = default;
};

split_rows split_rows_of(const dataset_node& graph);

} // namespace headrace
