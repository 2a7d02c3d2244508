#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/runtime/base/status.hpp"

namespace headrace::detail {

/// The progress of a run that was interrupted.
struct broken_run {
  bool gave_rows = false;
  /// Under DYNAMIC: other runs share the run's splits, and the services from which it reads.
  bool shares = false;
};

/// Ok if another run of the graph, with the same seed and the same splits, can take the place of
/// the interrupted run `what`, and drop the rows that the interrupted run gave already. The graph
/// must give the same rows again in the same order, unless the interrupted run had given no rows,
/// and had taken no rows from a job that other runs or trainers also read.
///
/// Else `failed_precondition`; the error names the operator and a remedy. It is assumed that files
/// and tables do not change, and that C++ and Python functions give the same result for the same
/// arguments.
status can_run_again(const dataset_node& graph, const broken_run& what);

} // namespace headrace::detail
