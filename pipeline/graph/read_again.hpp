#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/types/delivery_guarantee.hpp"
#include "headrace/pipeline/types/sharding_policy.hpp"
#include "headrace/runtime/base/status.hpp"

namespace headrace::detail {

/// Ok if a job over the graph can keep the guarantee `guarantee`. `at_least_once` requires splits
/// that other tasks can read again, with all rows that descend from them. So the policy must be
/// DYNAMIC, and no rows may come from a snapshot, from a cache in a folder or from later passes of
/// a cache in memory, which belong to one worker, or from other jobs, which give rows only once. In
/// functions, caches and anonymous jobs are permitted.
///
/// `invalid_argument`: the policy is another one. `failed_precondition`: an operator of the graph
/// prevents the guarantee; the error names the operator and a remedy.
status can_promise(delivery_guarantee guarantee, sharding_policy policy, const dataset_node& graph);
/// As above, without the graph.
status can_promise(delivery_guarantee guarantee, sharding_policy policy);

} // namespace headrace::detail
