#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/types/delivery_guarantee.hpp"
#include "headrace/pipeline/types/sharding_policy.hpp"
#include "headrace/runtime/base/status.hpp"

namespace headrace {

/// Can a job over the graph keep that guarantee? `at_least_once` takes splits that others can read
/// again, with all that becomes of them: DYNAMIC, and a graph in which no run keeps for itself what
/// it has read, as a cache does, nor reads what is given once, as another job's elements are.
///
/// `invalid_argument` for another sharding, `failed_precondition` for such a graph, naming the
/// operator and what would be right.
status can_promise(delivery_guarantee guarantee, sharding_policy policy, const dataset_node& graph);
/// The same, where nothing is known of the graph.
status can_promise(delivery_guarantee guarantee, sharding_policy policy);

} // namespace headrace
