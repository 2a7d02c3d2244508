#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

#include <functional>
#include <vector>

namespace headrace {

/// The parameters of enclosing functions that a graph, the body of one, uses: those of no function
/// inside of it. Each once.
std::vector<expr_ptr> free_parameters(const dataset_ptr& graph);

/// The graph with other expressions in their place, as `value` says, for which it must be a
/// constant. What it does not share with `graph` is for being encoded: its specs are those of the
/// parameters.
dataset_ptr bind_parameters(const dataset_ptr& graph,
                            const std::function<expr_ptr(const expr_ptr&)>& value);

} // namespace headrace
