#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace {

/// Can the elements of a graph be made in pieces, each from a run of splits of one source (or of
/// sources that advance together), so that all pieces together give what the graph gives in one
/// process?
struct piecewise {
  struct source {
    bool rows = false; ///< a split is a row, not a file or the like
    /// A piece begins at a multiple of so many splits: no batch goes over its borders.
    uint64_t multiple = 1;
    friend bool operator==(const source&, const source&) = default;
  };

  /// Why not, naming the operator; empty: they can.
  std::string whole_because;
  std::vector<source> sources; ///< numbered as in `split_plan`; none where they cannot

  bool possible() const noexcept { return whole_because.empty(); }
};

/// Elements that descend from one split each, or from splits that batches take together, come in
/// pieces; the pieces one after another have the order of the graph, but that an interleave mixes
/// only what is in a piece. What counts elements, mixes them or looks at several, as take, shuffle
/// or unique do, is only right in one run.
piecewise piecewise_of(const dataset_ptr& graph);

} // namespace headrace
