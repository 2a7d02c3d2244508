#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/types/delivery_guarantee.hpp"
#include "headrace/pipeline/types/sharding_policy.hpp"
#include "headrace/runtime/base/status.hpp"

namespace headrace::detail {

/// Ok if a job over the graph can keep that guarantee. `at_least_once` requires splits that other
/// tasks can read again, with all rows that descend from them: the policy DYNAMIC, and a graph
/// without caches, which keep rows in one run, and without elements of other jobs, which are given
/// only once.
///
/// `invalid_argument`: another policy. `failed_precondition`: an operator of the graph prevents it;
/// the error names the operator and a remedy.
status can_promise(delivery_guarantee guarantee, sharding_policy policy, const dataset_node& graph);
/// As above, without the graph.
status can_promise(delivery_guarantee guarantee, sharding_policy policy);

} // namespace headrace::detail
