#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace {

/// The options that hold for a graph: of each option, the value nearest to the output.
graph_options options_of(const dataset_node& graph);

} // namespace headrace
