#include "headrace/pipeline/makers/node_checks.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

/// The count, if it is known; each count below 0 becomes -1, because all of them mean the same.
std::optional<int64_t> count_or_all(const number_argument& argument) {
  const auto known = argument.known();
  return known ? std::max<int64_t>(*known, -1) : known;
}

status check_parallel(dataset_op op, int64_t value) {
  if (value >= -1)
    return {};
  return refused(op, fmt::format("parallel is {}; it must be 1 or more, 0 for calls one after the "
                                 "other, or -1 to have it chosen",
                                 value));
}

status check_body(dataset_op op, const dataset_ptr& input, const function_ptr& body,
                  bool gives_dataset) {
  if (!body)
    return refused(op, "there is no function");
  if (!body->argument.accepts(input->spec))
    return refused(op, fmt::format("the function takes {}, but the input gives {}",
                                   to_string(body->argument), to_string(input->spec)));
  if (gives_dataset && !body->dataset)
    return refused(
      op, fmt::format("the function gives {}; it must give a dataset", to_string(body->result())));
  if (!body->named.empty() && (has_datasets(body->argument) || has_datasets(body->declared)))
    return refused(op, fmt::format("function '{}' takes {} and gives {}; functions that are called "
                                   "by name take and give tensors",
                                   to_string(body->named), to_string(body->argument),
                                   to_string(body->declared)));
  if (!gives_dataset && body->dataset)
    return refused(op, fmt::format("the function gives a dataset of {}; it must give tensors (see "
                                   "flat_map and interleave)",
                                   to_string(body->dataset->spec)));
  return {};
}

/// True if `f` returns the rows of its argument, as the function of `unbatch` does.
bool gives_rows(const function& f) {
  const auto& rows = f.dataset->tensors;
  if (f.dataset->op != dataset_op::from_tensor_slices
      || rows.size() != f.argument.components.size())
    return false;
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i]->op != expr_op::parameter || rows[i]->scope != f.scope
        || rows[i]->attrs.index != static_cast<int64_t>(i))
      return false;
  return true;
}

/// The sum of the cardinalities of all datasets that `f` makes. As in tf.data it is known in these
/// cases only: the input is empty; the input is a `group_by_window` of infinite cardinality; the
/// input's cardinality is known, and each dataset has one element, or `f` is the function of
/// `unbatch`.
int64_t cardinality_of_all(const dataset_node& input, const function& f) {
  const auto each = f.dataset->cardinality;
  if (input.cardinality == 0)
    return 0;
  if (input.cardinality == infinite_cardinality)
    return each == 1 || input.op == dataset_op::group_by_window || gives_rows(f)
             ? infinite_cardinality
             : unknown_cardinality;
  int64_t all = 0;
  const bool known = input.cardinality > 0 && each >= 0 && (each == 1 || gives_rows(f));
  return known && !__builtin_mul_overflow(input.cardinality, each, &all) ? all
                                                                         : unknown_cardinality;
}

status check_predicate(dataset_op op, const dataset_ptr& input, const function_ptr& body) {
  HEADRACE_TRY(check_body(op, input, body, false));
  if (const auto gives = body->result(); gives != element_spec{tensor_spec{dtype::boolean, {}}})
    return refused(
      op, fmt::format("the function gives {}; it must give one bool scalar", to_string(gives)));
  return {};
}

} // namespace

result<dataset_ptr> make_map(dataset_ptr input, function_ptr body, int64_t parallel,
                             std::optional<bool> deterministic) {
  HEADRACE_TRY(check_input(dataset_op::map, input));
  HEADRACE_TRY(check_body(dataset_op::map, input, body, false));
  HEADRACE_TRY(check_parallel(dataset_op::map, parallel));
  auto node = node_of(dataset_op::map, {input});
  node.spec = body->result();
  node.cardinality = input->cardinality;
  node.body = std::move(body);
  node.calls = {parallel, deterministic};
  return finish(std::move(node));
}

result<dataset_ptr> make_filter(dataset_ptr input, function_ptr body, int64_t parallel,
                                std::optional<bool> deterministic) {
  constexpr auto op = dataset_op::filter;
  HEADRACE_TRY(check_input(op, input));
  HEADRACE_TRY(check_predicate(op, input, body));
  HEADRACE_TRY(check_parallel(op, parallel));
  auto node = node_of(op, {input});
  node.spec = input->spec;
  if (input->cardinality == 0 || input->cardinality == infinite_cardinality)
    node.cardinality = input->cardinality;
  node.calls = {parallel, deterministic};
  node.body = std::move(body);
  return finish(std::move(node));
}

result<dataset_ptr> make_take_while(dataset_ptr input, function_ptr body) {
  constexpr auto op = dataset_op::take_while;
  HEADRACE_TRY(check_input(op, input));
  HEADRACE_TRY(check_predicate(op, input, body));
  auto node = node_of(op, {input});
  node.spec = input->spec;
  if (input->cardinality == 0)
    node.cardinality = 0;
  node.body = std::move(body);
  return finish(std::move(node));
}

result<dataset_ptr> make_flat_map(dataset_ptr input, function_ptr body) {
  HEADRACE_TRY(check_input(dataset_op::flat_map, input));
  HEADRACE_TRY(check_body(dataset_op::flat_map, input, body, true));
  auto node = node_of(dataset_op::flat_map, {input});
  node.spec = body->dataset->spec;
  node.cardinality = cardinality_of_all(*input, *body);
  node.body = std::move(body);
  return finish(std::move(node));
}

result<dataset_ptr> make_interleave(dataset_ptr input, function_ptr body, int64_t cycle,
                                    int64_t length, int64_t parallel,
                                    std::optional<bool> deterministic) {
  constexpr auto op = dataset_op::interleave;
  HEADRACE_TRY(check_input(op, input));
  HEADRACE_TRY(check_body(op, input, body, true));
  HEADRACE_TRY(check_count(op, "cycle_length", cycle));
  HEADRACE_TRY(check_count(op, "block_length", length));
  HEADRACE_TRY(check_parallel(op, parallel));
  auto node = node_of(op, {input});
  node.spec = body->dataset->spec;
  node.cardinality = cardinality_of_all(*input, *body);
  node.body = std::move(body);
  node.parameters = interleave_parameters{cycle, length};
  node.calls = {parallel, deterministic};
  return finish(std::move(node));
}

result<dataset_ptr> make_batch(dataset_ptr input, const number_argument& size,
                               bool drop_remainder) {
  constexpr auto op = dataset_op::batch;
  const auto known = size.known();
  HEADRACE_TRY(check_tensors(op, input));
  HEADRACE_TRY(check_no_ragged(op, input->spec));
  HEADRACE_TRY(size.check(op, "batch_size"));
  if (known)
    HEADRACE_TRY(check_size(op, "batch_size", *known));
  auto node = node_of(op, {input});
  node.spec = input->spec;
  for (auto& part : node.spec.components)
    part.dims = part.dims.with_leading(drop_remainder && known ? *known : shape::unknown);
  node.cardinality = cardinality_of_batches(input->cardinality, known, drop_remainder);
  node.parameters = batch_parameters{known, drop_remainder};
  size.put_into(node);
  return finish(std::move(node));
}

result<dataset_ptr> make_shuffle(dataset_ptr input, const number_argument& buffer_size,
                                 std::optional<uint64_t> seed, bool reshuffle_each_iteration) {
  const auto known = buffer_size.known();
  HEADRACE_TRY(check_input(dataset_op::shuffle, input));
  HEADRACE_TRY(buffer_size.check(dataset_op::shuffle, "buffer_size"));
  if (known)
    HEADRACE_TRY(check_count(dataset_op::shuffle, "buffer_size", *known));
  auto node = node_of(dataset_op::shuffle, {input});
  node.spec = input->spec;
  node.cardinality = input->cardinality;
  node.parameters = shuffle_parameters{known, seed, reshuffle_each_iteration};
  buffer_size.put_into(node);
  return finish(std::move(node));
}

result<dataset_ptr> make_repeat(dataset_ptr input, const number_argument& argument) {
  constexpr auto op = dataset_op::repeat;
  const auto count = count_or_all(argument);
  HEADRACE_TRY(check_input(op, input));
  HEADRACE_TRY(argument.check(op, "count"));
  auto node = node_of(op, {input});
  node.spec = input->spec;
  node.parameters = repeat_parameters{count};
  argument.put_into(node);
  const auto n = input->cardinality;
  if (n == 0 || count == 0)
    node.cardinality = 0;
  else if (count == -1 || (count && n == infinite_cardinality))
    node.cardinality = infinite_cardinality;
  else if (!count || n == unknown_cardinality
           || __builtin_mul_overflow(n, *count, &node.cardinality))
    node.cardinality = unknown_cardinality;
  return finish(std::move(node));
}

result<dataset_ptr> make_take(dataset_ptr input, const number_argument& argument) {
  const auto count = count_or_all(argument);
  HEADRACE_TRY(check_input(dataset_op::take, input));
  HEADRACE_TRY(argument.check(dataset_op::take, "count"));
  auto node = node_of(dataset_op::take, {input});
  node.spec = input->spec;
  node.parameters = take_parameters{count};
  argument.put_into(node);
  const auto n = input->cardinality;
  if (count == 0)
    node.cardinality = 0;
  else if (!count)
    node.cardinality = n == 0 ? 0 : unknown_cardinality;
  else if (count == -1 || n == unknown_cardinality)
    node.cardinality = n;
  else
    node.cardinality = n == infinite_cardinality ? *count : std::min(n, *count);
  return finish(std::move(node));
}

result<dataset_ptr> make_skip(dataset_ptr input, const number_argument& argument) {
  const auto count = count_or_all(argument);
  HEADRACE_TRY(check_input(dataset_op::skip, input));
  HEADRACE_TRY(argument.check(dataset_op::skip, "count"));
  auto node = node_of(dataset_op::skip, {input});
  node.spec = input->spec;
  node.parameters = skip_parameters{count};
  argument.put_into(node);
  const auto n = input->cardinality;
  if (!count)
    node.cardinality = n == 0 ? 0 : unknown_cardinality;
  else if (count == -1)
    node.cardinality = 0;
  else
    node.cardinality = n < 0 ? n : std::max<int64_t>(0, n - *count);
  return finish(std::move(node));
}

result<dataset_ptr> make_prefetch(dataset_ptr input, int64_t elements) {
  constexpr auto op = dataset_op::prefetch;
  HEADRACE_TRY(check_input(op, input));
  if (elements < -1)
    return refused(op, fmt::format("buffer_size is {}; it must be 1 or more, 0 for none, or -1 to "
                                   "have it chosen",
                                   elements));
  auto node = node_of(op, {input});
  node.spec = input->spec;
  node.cardinality = input->cardinality;
  node.parameters = prefetch_parameters{elements};
  return finish(std::move(node));
}

result<dataset_ptr> make_enumerate(dataset_ptr input, int64_t start) {
  HEADRACE_TRY(check_input(dataset_op::enumerate, input));
  auto node = node_of(dataset_op::enumerate, {input});
  node.spec = element_spec::tuple({tensor_spec{dtype::int64, {}}, input->spec});
  node.cardinality = input->cardinality;
  node.parameters = enumerate_parameters{start};
  return finish(std::move(node));
}

result<dataset_ptr> make_zip(std::vector<dataset_ptr> inputs) {
  constexpr auto op = dataset_op::zip;
  if (inputs.empty())
    return refused(op, "there are no inputs; give at least one");
  std::vector<element_spec> parts;
  int64_t n = infinite_cardinality;
  for (const auto& input : inputs) {
    HEADRACE_TRY(check_input(op, input));
    parts.push_back(input->spec);
    // The shortest input determines the number of elements. An input of unknown cardinality may be
    // the shortest, unless another input is empty.
    const auto m = input->cardinality;
    if (n == 0 || m == 0)
      n = 0;
    else if (n == unknown_cardinality || m == unknown_cardinality)
      n = unknown_cardinality;
    else if (m != infinite_cardinality)
      n = n == infinite_cardinality ? m : std::min(n, m);
  }
  auto node = node_of(op, std::move(inputs));
  node.spec = element_spec::tuple(std::move(parts));
  node.cardinality = n;
  return finish(std::move(node));
}

result<dataset_ptr> make_concatenate(dataset_ptr first, dataset_ptr second) {
  constexpr auto op = dataset_op::concatenate;
  HEADRACE_TRY(check_input(op, first));
  HEADRACE_TRY(check_input(op, second));
  auto spec = first->spec;
  if (!join_spec(spec, second->spec))
    return refused(op, fmt::format("the second dataset gives {}; it must give {} as the first does",
                                   to_string(second->spec), to_string(first->spec)));
  auto node = node_of(op, {first, second});
  node.spec = std::move(spec);
  const auto a = first->cardinality;
  const auto b = second->cardinality;
  if (a == infinite_cardinality || b == infinite_cardinality)
    node.cardinality = infinite_cardinality;
  else if (a == unknown_cardinality || b == unknown_cardinality
           || __builtin_add_overflow(a, b, &node.cardinality))
    node.cardinality = unknown_cardinality;
  return finish(std::move(node));
}

} // namespace headrace::detail
