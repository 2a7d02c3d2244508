#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

#include <functional>

namespace headrace {

/// Is there a node for which `is` says so, in the graph or in datasets that its functions give?
bool any_node(const dataset_ptr& graph, const std::function<bool(const dataset_node&)>& is);

/// A changed node of a graph. What is below it has other elements than before, so that nothing is
/// known of their number but that it is infinite.
dataset_ptr finish_over(dataset_node changed);

/// The graph with nodes changed by `edit`, which gets a copy of each, says whether it changed it,
/// and must leave spec and cardinality true. The others are shared with `graph`. `in_function`: in
/// a dataset that a function gives.
dataset_ptr rewrite_nodes(const dataset_ptr& graph,
                          const std::function<bool(dataset_node&, bool in_function)>& edit);

} // namespace headrace
