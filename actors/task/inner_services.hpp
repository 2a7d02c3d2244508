#pragma once

#include "headrace/actors/task_surroundings.hpp"

#include <unordered_map>

namespace headrace::detail {

/// Opens the services from which a task's graph reads.
///
/// The tasks of a DYNAMIC job give each element once, so they share the jobs behind the
/// `distribute` nodes of the graph: a node without a job name gets a name that only the tasks of
/// this repetition use. Two kinds of nodes get no name: those inside functions, which are read by
/// the task that evaluates the function, and those in the choices of choose_from_datasets, which
/// each task reads as a whole.
class inner_services {
public:
  /// `shared`: all tasks read the same inner jobs, so inner jobs without a name get one. `run`: the
  /// number from which these names are made; no other repetition has it.
  inner_services(const dataset_ptr& graph, bool shared, uint64_t run, open_service open);

  /// `failed_precondition`: this task cannot read from services.
  result<std::unique_ptr<element_source>> open(const dataset_node& node, std::stop_token stop);

private:
  void name(const dataset_node& node, uint64_t run);

  open_service open_;
  std::unordered_map<const dataset_node*, service_options> named_;
};

} // namespace headrace::detail
