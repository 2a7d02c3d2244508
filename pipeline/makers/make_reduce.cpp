#include "headrace/pipeline/makers/node_checks.hpp"

#include <fmt/format.h>

namespace headrace::detail {

result<dataset_ptr> make_single_element(dataset_ptr input) {
  HEADRACE_TRY(check_input(dataset_op::single_element, input));
  auto node = node_of(dataset_op::single_element, {input});
  node.spec = input->spec;
  node.cardinality = 1;
  return finish(std::move(node));
}

result<dataset_ptr> make_last_element(dataset_ptr input, std::vector<expr_ptr> otherwise) {
  constexpr auto op = dataset_op::last_element;
  HEADRACE_TRY(check_tensors(op, input));
  std::vector<tensor_spec> specs;
  for (const auto& x : otherwise) {
    HEADRACE_TRY(check_expr(op, x, "initial_state"));
    specs.push_back(x->spec);
  }
  auto node = node_of(op, {input});
  node.spec = input->spec;
  if (specs.size() != node.spec.components.size()
      || !join_spec(node.spec, {node.spec.layout, std::move(specs)}))
    return refused(
      op, fmt::format("the initial state does not fit the states, {}", to_string(input->spec)));
  if (input->cardinality == infinite_cardinality)
    return refused(op, "the dataset never ends");
  node.tensors = std::move(otherwise);
  node.cardinality = 1;
  return finish(std::move(node));
}

result<dataset_ptr> make_reduce(dataset_ptr input, std::vector<expr_ptr> initial_state,
                                function_ptr body) {
  constexpr auto op = dataset_op::last_element;
  HEADRACE_TRY(check_traced(op, "the function", body));
  // `step` returns the new state twice: as the next state, and as the output of the scan.
  auto step = std::make_shared<function>(*body);
  step->layout = structure::tuple({body->layout, body->layout});
  step->tensors.insert(step->tensors.end(), body->tensors.begin(), body->tensors.end());
  auto states = make_scan(std::move(input), initial_state, std::move(step));
  if (!states)
    return states.status().with_context("reduce");
  return make_last_element(*std::move(states), std::move(initial_state));
}

} // namespace headrace::detail
