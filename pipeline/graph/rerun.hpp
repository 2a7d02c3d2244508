#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/runtime/base/status.hpp"

namespace headrace {

/// How far a run came that broke off.
struct broken_run {
  bool gave_rows = false;
  /// Other runs share its splits and the services it reads from (DYNAMIC).
  bool shares = false;
};

/// May another run of the graph, with the same seed and the same splits, stand in for one that
/// broke off, with the rows that were given already dropped? That takes a graph that gives the same
/// rows in the same order again; anything will do if none were given and none were taken from a job
/// that others read.
///
/// `failed_precondition` otherwise, which names the operator and what would be right. Taken on
/// trust: files and tables do not change meanwhile, and C++ and Python functions give the same for
/// the same.
status can_run_again(const dataset_node& graph, const broken_run& what);

} // namespace headrace
