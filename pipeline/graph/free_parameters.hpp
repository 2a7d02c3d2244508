#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

#include <functional>
#include <vector>

namespace headrace::detail {

/// The parameters of enclosing functions that a graph (the body of a function) uses, each once.
/// Parameters of functions inside the graph are left out.
std::vector<expr_ptr> free_parameters(const dataset_ptr& graph);

/// Returns the graph with each of its free parameters replaced by `value(parameter)`, which must be
/// a constant. The returned graph may only be encoded, not run, because its nodes keep the specs
/// that were inferred from the parameters, and not from these constants.
dataset_ptr bind_parameters(const dataset_ptr& graph,
                            const std::function<expr_ptr(const expr_ptr&)>& value);

} // namespace headrace::detail
