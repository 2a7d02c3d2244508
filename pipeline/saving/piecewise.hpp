#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::detail {

/// Whether and how the elements of a graph can be made in pieces, each from consecutive splits of
/// one source (or of one group), so that all pieces together are equal to the elements that one
/// process makes.
struct piecewise {
  struct source {
    bool rows = false; ///< true: a split is one row; false: for instance a file
    /// A piece begins at a multiple of this many splits, so that no batch crosses its border.
    uint64_t multiple = 1;
    friend bool operator==(const source&, const source&) = default;
  };

  /// The reason why there can be no pieces, with the operator's name; empty: there can be pieces.
  std::string whole_because;
  /// Numbered as in `split_plan`; empty if the elements cannot be made in pieces.
  std::vector<source> sources;

  bool possible() const noexcept { return whole_because.empty(); }
};

/// Elements can be made in pieces if each descends from one split, or from splits that a batch
/// combines. The pieces, one after another, have the order of the graph, except that an interleave
/// mixes only elements of one piece. Operators that count or mix elements, or depend on earlier
/// elements, such as take, shuffle or unique, are correct only in one run.
piecewise piecewise_of(const dataset_ptr& graph);

} // namespace headrace::detail
