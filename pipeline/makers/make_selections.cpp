#include "headrace/pipeline/functions/representation/expression_makers.hpp"
#include "headrace/pipeline/makers/node_checks.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

/// A node with the spec of its input, and of unknown cardinality unless the input is empty.
dataset_node selection(dataset_op op, const dataset_ptr& input) {
  auto node = node_of(op, {input});
  node.spec = input->spec;
  if (input->cardinality == 0)
    node.cardinality = 0;
  return node;
}

/// The spec that accepts the elements of all inputs, which must have one structure and the same
/// dtypes.
result<element_spec> common_spec(dataset_op op, const std::vector<dataset_ptr>& inputs) {
  if (inputs.empty())
    return refused(op, "there are no datasets; give at least one");
  for (const auto& input : inputs) HEADRACE_TRY(check_input(op, input));
  auto spec = inputs[0]->spec;
  for (size_t n = 1; n < inputs.size(); ++n) {
    const auto& other = inputs[n]->spec;
    if (!join_spec(spec, other))
      return refused(op, fmt::format("dataset {} gives {}; it must give {} as the first does", n,
                                     to_string(other), to_string(inputs[0]->spec)));
  }
  return spec;
}

bool all_infinite(const std::vector<dataset_ptr>& inputs) {
  return std::all_of(inputs.begin(), inputs.end(),
                     [](const auto& x) { return x->cardinality == infinite_cardinality; });
}

status check_weights(const std::vector<double>& weights, size_t inputs) {
  constexpr auto op = dataset_op::sample_from;
  if (weights.size() != inputs)
    return refused(op, fmt::format("there are {} weights for {} datasets; give one for each",
                                   weights.size(), inputs));
  double sum = 0;
  for (auto x : weights) {
    if (!(x >= 0) || !std::isfinite(x))
      return refused(op, fmt::format("a weight is {}; weights must be 0 or more", x));
    sum += x;
  }
  if (!(sum > 0) || !std::isfinite(sum))
    return refused(op, "one of the weights must be more than 0, and their sum finite");
  return {};
}

} // namespace

result<dataset_ptr> make_shard(dataset_ptr input, int64_t shards, int64_t index, int64_t run) {
  constexpr auto op = dataset_op::shard;
  HEADRACE_TRY(check_input(op, input));
  const bool hint = shards == shard_hint;
  if (!hint)
    HEADRACE_TRY(check_count(op, "num_shards", shards));
  HEADRACE_TRY(check_count(op, "run", run));
  int64_t cycle = 0;
  if (!hint && __builtin_mul_overflow(shards, run, &cycle))
    return refused(op, fmt::format("{} shards of {} elements in a row are too many", shards, run));
  // Under the policy `hint` the service sets the index, so `shard_hint` is valid as the index, too.
  if (hint && index == shard_hint)
    index = 0;
  if (index < 0 || (index >= shards && !hint))
    return refused(op, fmt::format("index is {}; it must be 0 or more and less than num_shards, {}",
                                   index, shards));
  auto node = selection(op, input);
  const auto n = hint && input->cardinality >= 0 ? unknown_cardinality : input->cardinality;
  node.cardinality = n < 0 ? n : n / shards + (index < n % shards ? 1 : 0);
  if (n >= 0 && !hint && run != 1)
    node.cardinality = n / cycle * run + std::clamp<int64_t>(n % cycle - index * run, 0, run);
  node.parameters = shard_parameters{shards, index, run};
  return finish(std::move(node));
}

result<dataset_ptr> make_unique_elements(dataset_ptr input) {
  HEADRACE_TRY(check_tensors(dataset_op::unique, input));
  return finish(selection(dataset_op::unique, input));
}

result<dataset_ptr> make_ignore_errors(dataset_ptr input) {
  HEADRACE_TRY(check_input(dataset_op::ignore_errors, input));
  auto node = selection(dataset_op::ignore_errors, input);
  if (input->cardinality == infinite_cardinality)
    node.cardinality = infinite_cardinality;
  return finish(std::move(node));
}

result<dataset_ptr> make_assert_cardinality(dataset_ptr input, int64_t count) {
  constexpr auto op = dataset_op::assert_cardinality;
  HEADRACE_TRY(check_input(op, input));
  if (count < 0 && count != infinite_cardinality)
    return refused(op, fmt::format("expected_cardinality is {}; it must be 0 or more, or {} for an "
                                   "infinite dataset",
                                   count, infinite_cardinality));
  if (input->cardinality != unknown_cardinality && input->cardinality != count)
    return failed_precondition(
      fmt::format("assert_cardinality: expected_cardinality is {}; the dataset's is {}", count,
                  input->cardinality));
  auto node = selection(op, input);
  node.cardinality = count;
  node.parameters = assert_cardinality_parameters{count};
  return finish(std::move(node));
}

result<dataset_ptr> make_sleep(dataset_ptr input, const number_argument& microseconds) {
  constexpr auto op = dataset_op::sleep;
  HEADRACE_TRY(check_input(op, input));
  HEADRACE_TRY(microseconds.check(op, "sleep_microseconds"));
  HEADRACE_TRY(check_pause(microseconds.known().value_or(0)));
  auto node = selection(op, input);
  node.cardinality = input->cardinality;
  node.parameters = sleep_parameters{microseconds.known()};
  microseconds.put_into(node);
  return finish(std::move(node));
}

result<dataset_ptr> make_sample_from(std::vector<dataset_ptr> inputs, std::vector<double> weights,
                                     std::optional<uint64_t> seed, bool stop_on_empty,
                                     bool rerandomize_each_iteration) {
  constexpr auto op = dataset_op::sample_from;
  HEADRACE_ASSIGN(auto spec, common_spec(op, inputs));
  if (weights.empty())
    weights.assign(inputs.size(), 1);
  HEADRACE_TRY(check_weights(weights, inputs.size()));
  int64_t n = stop_on_empty ? unknown_cardinality : 0;
  for (size_t i = 0; !stop_on_empty && i < inputs.size(); ++i) {
    const auto more = inputs[i]->cardinality;
    if (weights[i] == 0 || n == infinite_cardinality)
      continue;
    if (more == infinite_cardinality)
      n = infinite_cardinality;
    else if (n == unknown_cardinality || more == unknown_cardinality
             || __builtin_add_overflow(n, more, &n))
      n = unknown_cardinality;
  }
  if (all_infinite(inputs))
    n = infinite_cardinality;
  // If only one input has a weight above 0, the others are never read.
  const auto chosen = std::ranges::find_if(weights, [](double x) { return x > 0; });
  if (std::find_if(chosen + 1, weights.end(), [](double x) { return x > 0; }) == weights.end())
    n = inputs[static_cast<size_t>(chosen - weights.begin())]->cardinality;
  auto node = node_of(op, std::move(inputs));
  node.spec = std::move(spec);
  node.cardinality = n;
  node.parameters =
    sample_from_parameters{std::move(weights), seed, stop_on_empty, rerandomize_each_iteration};
  return finish(std::move(node));
}

result<dataset_ptr> make_choose_from(dataset_ptr choices, std::vector<dataset_ptr> inputs,
                                     bool stop_on_empty) {
  constexpr auto op = dataset_op::choose_from;
  HEADRACE_TRY(check_input(op, choices));
  if (choices->spec != element_spec{tensor_spec{dtype::int64, {}}})
    return refused(
      op, fmt::format("the choices are {}; they must be int64 scalars", to_string(choices->spec)));
  HEADRACE_ASSIGN(auto spec, common_spec(op, inputs));
  const bool endless = choices->cardinality == infinite_cardinality && all_infinite(inputs);
  const bool empty = choices->cardinality == 0;
  inputs.insert(inputs.begin(), std::move(choices));
  auto node = node_of(op, std::move(inputs));
  node.spec = std::move(spec);
  node.cardinality = empty ? 0 : endless ? infinite_cardinality : unknown_cardinality;
  node.parameters = choose_from_parameters{stop_on_empty};
  return finish(std::move(node));
}

} // namespace headrace::detail
