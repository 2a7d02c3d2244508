#include "headrace/actors/task/inner_services.hpp"

#include "headrace/pipeline/graph/split_plan.hpp"

#include <fmt/format.h>

namespace headrace::detail {

inner_services::inner_services(const dataset_ptr& graph, bool shared, uint64_t run,
                               open_service open)
  : open_(std::move(open)) {
  if (shared)
    name(*graph, run);
}

void inner_services::name(const dataset_node& node, uint64_t run) {
  if (node.op != dataset_op::distribute) {
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (!is_whole(node, i))
        name(*node.inputs[i], run);
    return;
  }
  auto about = node.as<service_options>();
  if (!about.job_name.empty() || named_.contains(&node))
    return;
  about.job_name = fmt::format("input {} of run {:016x}", named_.size(), run);
  // Passes of a `repeat` around the node are repetitions of that job, and all tasks give a pass the
  // same number.
  about.iterations = std::make_shared<service_iterations>();
  named_.emplace(&node, std::move(about));
}

result<std::unique_ptr<element_source>> inner_services::open(const dataset_node& node,
                                                             std::stop_token stop) {
  if (!open_)
    return failed_precondition("distribute: this worker reads from no service");
  const auto named = named_.find(&node);
  if (named == named_.end())
    return open_(node, std::move(stop));
  auto shared = node;
  shared.parameters = named->second;
  return open_(shared, std::move(stop));
}

} // namespace headrace::detail
