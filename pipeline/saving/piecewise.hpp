#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace {

/// Decides whether the elements of a graph can be made in pieces, each from consecutive splits of
/// one source (or of one group), so that all pieces together are what the graph gives in one
/// process.
struct piecewise {
  struct source {
    bool rows = false; ///< a split is a row, not a file or the like
    /// A piece begins at a multiple of this many splits, so that no batch crosses its border.
    uint64_t multiple = 1;
    friend bool operator==(const source&, const source&) = default;
  };

  /// Why that is not possible, naming the operator; empty: it is.
  std::string whole_because;
  std::vector<source> sources; ///< numbered as in `split_plan`; empty if it is not possible

  bool possible() const noexcept { return whole_because.empty(); }
};

/// Elements that descend from one split each, or from splits that batches take together, can be
/// made in pieces. The pieces, one after another, have the order of the graph, except that an
/// interleave mixes only elements of one piece. Operators that count elements, mix them or look at
/// several, such as take, shuffle or unique, are correct only in one run.
piecewise piecewise_of(const dataset_ptr& graph);

} // namespace headrace
