#include "headrace/pipeline/graph/read_again.hpp"

#include "headrace/pipeline/graph/operator_record.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace headrace::detail {

namespace {

class reread_inspection {
public:
  /// `repeated`: the node's rows are read more than once, or may be.
  status visit(const dataset_node& node, bool in_function, bool repeated) {
    if (!seen_.emplace(&node, in_function, repeated).second)
      return {};
    HEADRACE_TRY(check(node, in_function, repeated));
    if (node.op == dataset_op::distribute)
      return {};
    repeated |= passes_over_input(node) != 1;
    for (const auto& input : node.inputs) HEADRACE_TRY(visit(*input, in_function, repeated));
    if (node.body && node.body->dataset)
      HEADRACE_TRY(visit(*node.body->dataset, true, repeated));
    return {};
  }

private:
  static status check(const dataset_node& node, bool in_function, bool repeated) {
    const auto find_reason = record_of(node).not_read_again;
    const auto why = find_reason
                       ? find_reason(node, {.in_function = in_function, .repeated = repeated})
                       : std::string_view{};
    return why.empty() ? status{} : refused(node, why);
  }

  static status refused(const dataset_node& node, std::string_view why) {
    return failed_precondition(
      fmt::format("at_least_once cannot be promised over a {}: {}", to_string(node.op), why));
  }

  std::set<std::tuple<const dataset_node*, bool, bool>> seen_;
};

} // namespace

status can_promise(delivery_guarantee guarantee, sharding_policy policy) {
  if (guarantee == delivery_guarantee::at_most_once || policy == sharding_policy::dynamic)
    return {};
  return invalid_argument(fmt::format("guarantee at_least_once is one of processing mode dynamic; "
                                      "with {} leave it out",
                                      to_string(policy)));
}

status can_promise(delivery_guarantee guarantee, sharding_policy policy,
                   const dataset_node& graph) {
  HEADRACE_TRY(can_promise(guarantee, policy));
  return guarantee == delivery_guarantee::at_most_once
           ? status{}
           : reread_inspection{}.visit(graph, false, false);
}

} // namespace headrace::detail
