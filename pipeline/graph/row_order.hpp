#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

#include <string>

namespace headrace {

/// True if this map may run on all cores although no parallel calls were asked for. `options`:
/// those of the whole graph; `in_function`: the map is in a dataset that a function gives.
bool may_spread(const dataset_node& map, const graph_options& options, bool in_function);

/// True if this operator may give its rows as they are done, in an order that differs between runs
/// although that of its inputs does not. Random orders that are drawn from a seed are not meant.
bool may_reorder(const dataset_node& node, const graph_options& options, bool in_function);

/// What makes the order of elements another one in another process, by the operators' names.
struct order_facts {
  std::string drawn;    ///< the first one that draws its order and was given no seed, or empty
  std::string reorders; ///< the first one that gives elements as they are done, or empty
  bool service = false; ///< elements come from a service
};
order_facts order_of(const dataset_node& graph);

/// Is every element read from a job that has a name, which others may read from too?
bool reads_shared_job(const dataset_node& graph);

} // namespace headrace
