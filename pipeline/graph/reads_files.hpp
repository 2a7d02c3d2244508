#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace {

/// Is this a source of what is in the files that its first tensor names?
bool reads_named_files(dataset_op op) noexcept;

/// Does anything in the graph, or in datasets that its functions give, read files or look for them?
bool reads_files(const dataset_ptr& graph);

} // namespace headrace
