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
/// one that was interrupted, and drop the rows that were given already. The graph must give the
/// same rows again in the same order, unless the earlier run had given none and had taken none from
/// a job that others read.
///
/// Else `failed_precondition`, with the operator and a remedy. It is assumed that files and tables
/// do not change, and that C++ and Python functions give the same result for the same arguments.
status can_run_again(const dataset_node& graph, const broken_run& what);

} // namespace headrace::detail
