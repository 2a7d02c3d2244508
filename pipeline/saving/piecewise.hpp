#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

#include <cstdint>
#include <string>

namespace headrace {

/// Can the elements of a graph be made in pieces, each from a run of splits of one source, so that
/// all pieces together give what the graph gives in one process?
struct piecewise {
  /// Why not, naming the operator; empty: they can.
  std::string whole_because;
  /// A piece begins at a multiple of so many splits: no batch goes over its borders.
  uint64_t multiple = 1;

  bool possible() const noexcept { return whole_because.empty(); }
};

/// Elements that descend from one split each, or from splits that batches take together, come in
/// pieces; the pieces one after another have the order of the graph unless it has a random one
/// (shuffle, sample_from_datasets) or mixes files (interleave). What counts elements, or looks at
/// several, as take, scan or unique do, is only right in one run.
piecewise piecewise_of(const dataset_node& graph);

} // namespace headrace
