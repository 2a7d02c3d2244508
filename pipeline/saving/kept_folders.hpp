#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/runtime/base/result.hpp"

namespace headrace::detail {

/// The graph in which snapshots and caches in folders that are complete now are replaced by sources
/// that read these folders, so that workers can share their elements. Snapshots and caches in
/// functions, and incomplete ones, are not replaced.
result<dataset_ptr> read_kept_folders(const dataset_ptr& graph);

} // namespace headrace::detail
