#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace::detail {

/// True for sources that read the files named by their first tensor.
bool reads_named_files(dataset_op op) noexcept;

/// True if a node of the graph, or of datasets that its functions make, reads files or lists them.
bool reads_files(const dataset_ptr& graph);

} // namespace headrace::detail
