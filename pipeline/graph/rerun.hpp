#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/runtime/base/status.hpp"

namespace headrace {

/// How far a run came before it broke off.
struct broken_run {
  bool gave_rows = false;
  /// Under DYNAMIC: other runs share its splits, and the services that it reads from.
  bool shares = false;
};

/// Ok if another run of the graph, with the same seed and the same splits, can take the place of
/// one that broke off, with the rows that were given already dropped. The graph must give the same
/// rows again in the same order, unless the run had given none and had taken none from a job that
/// others read.
///
/// Else `failed_precondition`, naming the operator and what would be right. Files and tables are
/// trusted not to change, and C++ and Python functions to give the same result for the same
/// arguments.
status can_run_again(const dataset_node& graph, const broken_run& what);

} // namespace headrace
