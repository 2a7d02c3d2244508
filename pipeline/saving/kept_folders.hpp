#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/runtime/base/result.hpp"

namespace headrace {

/// The graph with what its snapshots and caches in folders hold in the place of those that are
/// whole now, functions apart: so workers can share their elements. The others stay.
result<dataset_ptr> read_kept_folders(const dataset_ptr& graph);

} // namespace headrace
