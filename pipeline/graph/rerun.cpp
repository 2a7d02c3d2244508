#include "headrace/pipeline/graph/rerun.hpp"

#include "headrace/pipeline/graph/build.hpp"
#include "headrace/pipeline/graph/row_order.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace headrace {

namespace {

class inspection {
public:
  inspection(const graph_options& options, const broken_run& what)
    : options_(options), what_(what) {}

  status visit(const dataset_node& node, bool in_function) {
    if (!seen_.emplace(&node, in_function).second)
      return {};
    HEADRACE_TRY(check(node, in_function));
    if (node.op == dataset_op::distribute)
      return {};
    for (const auto& input : node.inputs) HEADRACE_TRY(visit(*input, in_function));
    if (node.body && node.body->dataset)
      HEADRACE_TRY(visit(*node.body->dataset, true));
    return {};
  }

private:
  status check(const dataset_node& node, bool in_function) const {
    switch (node.op) {
    case dataset_op::map:
    case dataset_op::filter:
    case dataset_op::interleave:
      return what_.gave_rows && may_reorder(node, options_, in_function)
               ? refused(node, "gives rows as they are done; with deterministic = true it can")
               : status{};
    case dataset_op::distribute:
      return what_.gave_rows || takes_for_good(node, in_function)
               ? refused(node, "reads from another job, which does not give what it gave again; "
                               "without a distribute inside of a distributed dataset it can")
               : status{};
    case dataset_op::snapshot:
      return what_.gave_rows ? refused_folder(node, node.as<snapshot_parameters>().folder)
                             : status{};
    case dataset_op::cache: {
      const auto& folder = node.as<cache_parameters>().folder;
      return what_.gave_rows && !folder.empty() && !in_function ? refused_folder(node, folder)
                                                                : status{};
    }
    default: return {};
    }
  }

  static status refused(const dataset_node& node, std::string_view why) {
    return failed_precondition(fmt::format("the run broke off and cannot be taken up again: {} {}",
                                           to_string(node.op), why));
  }
  static status refused_folder(const dataset_node& node, const std::string& folder) {
    return refused(node, fmt::format("may find in '{}' what another run has written since; with a "
                                     "dataset that is saved first, and then loaded, it can",
                                     folder));
  }

  /// What is read is nobody else's any more: the job is one that other runs, or trainers, share.
  bool takes_for_good(const dataset_node& node, bool in_function) const {
    return !node.as<service_options>().job_name.empty() || (what_.shares && !in_function);
  }

  const graph_options options_;
  const broken_run what_;
  std::set<std::pair<const dataset_node*, bool>> seen_;
};

} // namespace

status can_run_again(const dataset_node& graph, const broken_run& what) {
  return inspection{options_of(graph), what}.visit(graph, false);
}

} // namespace headrace
