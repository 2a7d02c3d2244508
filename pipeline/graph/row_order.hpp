#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace {

/// True if this map may run on all cores although no parallel calls were asked for. `options`:
/// those of the whole graph; `in_function`: the map is in a dataset that a function gives.
bool may_spread(const dataset_node& map, const graph_options& options, bool in_function);

/// True if this operator may give its rows as they are done, in an order that differs between runs
/// although that of its inputs does not. Random orders that are drawn from a seed are not meant.
bool may_reorder(const dataset_node& node, const graph_options& options, bool in_function);

} // namespace headrace
