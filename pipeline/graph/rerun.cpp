#include "headrace/pipeline/graph/rerun.hpp"

#include "headrace/pipeline/graph/graph_options.hpp"
#include "headrace/pipeline/graph/operator_record.hpp"
#include "headrace/pipeline/graph/row_order.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace headrace::detail {

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
    if (what_.gave_rows && may_reorder(node, options_))
      return refused(node, "gives rows as they are done; with deterministic = true it can");
    const auto find_reason = record_of(node).not_run_again;
    const auto why = find_reason ? find_reason(node, what_, in_function) : std::string{};
    return why.empty() ? status{} : refused(node, why);
  }

  static status refused(const dataset_node& node, std::string_view why) {
    return failed_precondition(fmt::format("the run broke off and cannot be taken up again: {} {}",
                                           to_string(node.op), why));
  }

  const graph_options options_;
  const broken_run what_;
  std::set<std::pair<const dataset_node*, bool>> seen_;
};

} // namespace

status can_run_again(const dataset_node& graph, const broken_run& what) {
  return inspection{options_of(graph), what}.visit(graph, false);
}

} // namespace headrace::detail
