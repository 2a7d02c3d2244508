#include "headrace/pipeline/graph/free_parameters.hpp"
#include "headrace/pipeline/makers/node_checks.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

status check_distribute(const service_options& service) {
  constexpr auto op = dataset_op::distribute;
  if (service.max_outstanding_requests < 0)
    return refused(op, fmt::format("max_outstanding_requests is {}; it must be 1 or more, or 0 "
                                   "for a bound in bytes alone",
                                   service.max_outstanding_requests));
  if (service.worker_timeout_ns < 0)
    return refused(op, "worker_timeout is negative");
  if (service.stall_timeout_ns <= 0)
    return refused(
      op, fmt::format("stall_timeout is {} ns; it must be more than 0", service.stall_timeout_ns));
  return {};
}

/// The cardinality of elements that are read through a service: how often each element is given
/// depends on the policy and on the number of workers.
int64_t cardinality_through(sharding_policy policy, int64_t cardinality) {
  if (cardinality == 0)
    return 0;
  // Under OFF, DYNAMIC and DATA, an input without end gives elements without end. Under the other
  // policies a worker's part of it may have no elements, so the cardinality is unknown.
  const bool endless = policy == sharding_policy::off || policy == sharding_policy::dynamic
                       || policy == sharding_policy::data;
  return endless && cardinality == infinite_cardinality ? infinite_cardinality
                                                        : unknown_cardinality;
}

} // namespace

result<dataset_ptr> make_distribute(dataset_ptr input, service_options service) {
  HEADRACE_TRY(check_tensors(dataset_op::distribute, input));
  HEADRACE_TRY(check_distribute(service));
  if (!service.dataset_id.empty())
    return refused(dataset_op::distribute,
                   fmt::format("there is an input and the id '{}' of a registered dataset; give "
                               "one of them",
                               service.dataset_id));
  if (auto how = check_writes_nothing(input); !how.ok())
    return how.with_context("distribute");
  for (const auto& parameter : free_parameters(input))
    if (parameter->spec.is_dataset())
      return refused(dataset_op::distribute,
                     fmt::format("the input reads {}, an argument of the function around it, which "
                                 "cannot be sent to a service; distribute what comes before that "
                                 "function",
                                 to_string(parameter->spec)));
  auto node = node_of(dataset_op::distribute, {input});
  node.spec = input->spec;
  node.cardinality = cardinality_through(service.processing_mode, input->cardinality);
  node.parameters = std::move(service);
  return finish(std::move(node));
}

result<dataset_ptr> make_distribute(element_spec spec, int64_t cardinality,
                                    service_options service) {
  HEADRACE_TRY(check_distribute(service));
  if (service.dataset_id.empty())
    return refused(dataset_op::distribute, "there is neither an input nor a dataset id");
  if (spec.layout.leaves() != spec.components.size())
    return refused(dataset_op::distribute, "the spec's layout does not fit its components");
  if (has_datasets(spec))
    return refused(dataset_op::distribute,
                   fmt::format("the spec is {}; datasets cannot be sent", to_string(spec)));
  auto node = node_of(dataset_op::distribute);
  node.spec = std::move(spec);
  node.cardinality = cardinality_through(service.processing_mode, cardinality);
  node.parameters = std::move(service);
  return finish(std::move(node));
}

} // namespace headrace::detail
