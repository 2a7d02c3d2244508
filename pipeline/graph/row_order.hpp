#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace {

/// May this map run on all cores although nobody asked for parallel calls? `options`: the whole
/// graph's; `in_function`: it is in the dataset that a function gives.
bool may_spread(const dataset_node& map, const graph_options& options, bool in_function);

/// May this operator give its rows as they are done, in another order in each run, where its inputs
/// give theirs in one? Draws of random orders are not meant.
bool may_reorder(const dataset_node& node, const graph_options& options, bool in_function);

} // namespace headrace
