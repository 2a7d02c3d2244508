#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

#include <string>

namespace headrace {

/// May this map run on all cores although nobody asked for parallel calls? `options`: the whole
/// graph's; `in_function`: it is in the dataset that a function gives.
bool may_spread(const dataset_node& map, const graph_options& options, bool in_function);

/// May this operator give its rows as they are done, in another order in each run, where its inputs
/// give theirs in one? Draws of random orders are not meant.
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
