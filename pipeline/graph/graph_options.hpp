#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace::detail {

/// The options of a graph: for each option, the value that is set nearest to the output.
graph_options options_of(const dataset_node& graph);

} // namespace headrace::detail
