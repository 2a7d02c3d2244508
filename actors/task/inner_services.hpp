#pragma once

#include "headrace/actors/task_surroundings.hpp"

#include <unordered_map>

namespace headrace {

/// The services that a task's graph reads from.
///
/// The tasks of a DYNAMIC job give each element once, so they share the jobs that stand behind the
/// graph's `distribute` nodes: a node without a job name gets one that only the tasks of this run
/// have. Nodes in functions are read by the task whose element it is, alone; those that decide (the
/// choices of choose_from_datasets) by each task, whole.
class inner_services {
public:
  /// `run` is the same number for all tasks of the job's repetition, and no other's.
  inner_services(const dataset_ptr& graph, bool shared, uint64_t run, open_service open);

  /// `failed_precondition` if services cannot be read from here.
  result<std::unique_ptr<element_source>> open(const dataset_node& node, std::stop_token stop);

private:
  void name(const dataset_node& node, uint64_t run);

  open_service open_;
  std::unordered_map<const dataset_node*, service_options> named_;
};

} // namespace headrace
