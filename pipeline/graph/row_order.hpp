#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

#include <string>

namespace headrace::detail {

/// True if this map may run on all cores although its number of calls is 0; the order of the rows
/// is kept. `options`: the options of the whole graph; `in_function`: the map belongs to a dataset
/// that a function makes.
bool may_spread(const dataset_node& map, const graph_options& options, bool in_function);

/// True if this operator may return its rows in the order in which they are done, which may differ
/// between runs even if the order of its inputs does not. Random orders that are drawn from a seed
/// do not count.
bool may_reorder(const dataset_node& node, const graph_options& options);

/// True if `may_reorder` is true for an operator of this part of a graph, or of the datasets that
/// the functions of the part make. `options`: the options of the whole graph.
bool reorders(const dataset_node& part, const graph_options& options);

/// The properties of a graph because of which another process may read its elements in another
/// order. Operators are given by their names.
struct order_facts {
  std::string drawn; ///< the first operator that draws its order without a seed, or empty
  /// The first operator that returns elements in the order in which they are done, or empty.
  std::string reorders;
  bool service = false; ///< elements come from a service
};
order_facts order_of(const dataset_node& graph);

/// True if every element of the graph is read from a job with a name. Other trainers may read such
/// a job, too.
bool reads_shared_job(const dataset_node& graph);

} // namespace headrace::detail
