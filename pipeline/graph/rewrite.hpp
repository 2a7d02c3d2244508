#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

#include <functional>

namespace headrace::detail {

/// True if `is` returns true for a node of the graph, or of datasets that its functions make.
bool any_node(const dataset_ptr& graph, const std::function<bool(const dataset_node&)>& is);

/// Completes a changed copy of a node. The inputs of the copy may have other numbers of elements
/// than before the change, so its cardinality becomes unknown, except that an infinite one is kept.
dataset_ptr finish_over(dataset_node changed);

/// Returns a copy of the graph in which `edit` has changed nodes. `edit` is called with a copy of
/// each node, returns true if it changed the copy, and must leave spec and cardinality correct.
/// Unchanged nodes are shared with `graph`. `in_function`: the node belongs to a dataset that a
/// function makes.
dataset_ptr rewrite_nodes(const dataset_ptr& graph,
                          const std::function<bool(dataset_node&, bool in_function)>& edit);

} // namespace headrace::detail
