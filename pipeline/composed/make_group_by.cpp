#include "headrace/pipeline/composed/composed_functions.hpp"
#include "headrace/pipeline/functions/debugging.hpp"
#include "headrace/pipeline/functions/trace.hpp"
#include "headrace/pipeline/makers/node_checks.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

constexpr auto by_window = dataset_op::group_by_window;

const tensor_spec int64_scalar{dtype::int64, {}};

element_spec nested(element_spec spec) {
  for (auto& part : spec.components) ++part.nesting;
  return spec;
}

/// A dataset with an element (key, element) for each element of `input`.
result<dataset_ptr> keyed(const dataset_ptr& input, const function_ptr& key) {
  HEADRACE_TRY(check_input(by_window, input));
  HEADRACE_TRY(check_traced(by_window, "key_func", key));
  HEADRACE_ASSIGN(auto number, integer_of("group_by_window", "key_func", *key));
  return make_map(input, with_element(*key, {number}));
}

/// A dataset with an element (key, size of the key's groups, element) for each element (key,
/// element) of `keyed`.
result<dataset_ptr> sized(const dataset_ptr& keyed, const function& size) {
  HEADRACE_ASSIGN(auto number, integer_of("group_by_window", "window_size_func", size));
  auto f = std::make_shared<function>();
  f->scope = size.scope;
  f->argument = keyed->spec; // its first component is the argument of `size`
  const auto element = keyed->spec.child(1);
  f->layout = structure::tuple({{}, {}, element.layout});
  f->tensors = {make_parameter(f->scope, 0, int64_scalar), number.node()};
  for (size_t i = 0; i < element.components.size(); ++i)
    f->tensors.push_back(
      make_parameter(f->scope, static_cast<int64_t>(i + 1), element.components[i]));
  return make_map(keyed, std::move(f));
}

result<dataset_ptr> reduced(result<dataset_ptr> groups, function_ptr reduce) {
  if (!groups)
    return groups;
  if (!reduce || !reduce->dataset)
    return refused(by_window, "reduce_func must give a dataset");
  if (!reduce->argument.accepts((*groups)->spec))
    return refused(by_window, fmt::format("reduce_func takes {}; it must take (key, elements): {}",
                                          to_string(reduce->argument), to_string((*groups)->spec)));
  return make_flat_map(*std::move(groups), std::move(reduce));
}

expr numbers(const std::vector<int64_t>& xs) { return constant(xs); }

status check_buckets(const bucket_format& format) {
  const auto refuse = [](const std::string& what) {
    return invalid_argument("bucket_by_sequence_length: " + what);
  };
  const auto& at = format.boundaries;
  if (format.batch_sizes.size() != at.size() + 1)
    return refuse(fmt::format("there are {} batch sizes for {} boundaries; give one more than "
                              "boundaries",
                              format.batch_sizes.size(), at.size()));
  for (auto size : format.batch_sizes)
    if (size < 1 || size > INT32_MAX)
      return refuse(
        fmt::format("a batch size is {}; it must be between 1 and {}", size, INT32_MAX));
  for (size_t i = 1; i < at.size(); ++i)
    if (at[i] <= at[i - 1])
      return refuse(
        fmt::format("boundary {} follows {}; boundaries must ascend", at[i], at[i - 1]));
  if (format.pad_to_boundary && at.empty())
    return refuse("there is no boundary to pad to");
  return {};
}

} // namespace

element_spec grouped_spec(const element_spec& element) {
  return element_spec::tuple({int64_scalar, nested(element)});
}

result<dataset_ptr> make_groups(dataset_ptr input, int64_t size, bool drop_remainder) {
  HEADRACE_TRY(check_input(by_window, input));
  if (size != 0)
    HEADRACE_TRY(check_count(by_window, "window_size", size));
  const auto& spec = input->spec;
  const size_t leading = size == 0 ? 2 : 1;
  bool fits = !spec.layout.is_leaf() && spec.layout.children().size() == leading + 1;
  for (size_t i = 0; fits && i < leading; ++i) fits = spec.child(i) == element_spec{int64_scalar};
  if (!fits)
    return refused(by_window, fmt::format("the input gives {}; it must give {}", to_string(spec),
                                          size == 0 ? "(key, size, element)" : "(key, element)"));
  auto node = node_of(by_window, {input});
  node.spec = grouped_spec(spec.child(leading));
  for (const auto& part : node.spec.components)
    if (part.nesting > most_nesting)
      return refused(by_window, fmt::format("datasets nested more than {} deep", most_nesting));
  if (input->cardinality == 0 || input->cardinality == infinite_cardinality)
    node.cardinality = input->cardinality;
  node.parameters = group_parameters{size, drop_remainder};
  return finish(std::move(node));
}

result<dataset_ptr> make_group_by_window(dataset_ptr input, function_ptr key, function_ptr reduce,
                                         int64_t size) {
  HEADRACE_TRY(check_count(by_window, "window_size", size));
  HEADRACE_ASSIGN(auto rows, keyed(input, key));
  return reduced(make_groups(std::move(rows), size), std::move(reduce));
}

result<dataset_ptr> make_group_by_window(dataset_ptr input, function_ptr key, function_ptr reduce,
                                         function_ptr size) {
  HEADRACE_ASSIGN(auto rows, keyed(input, key));
  HEADRACE_TRY(check_traced(by_window, "window_size_func", size));
  if (size->argument != element_spec{int64_scalar})
    return refused(by_window,
                   fmt::format("window_size_func takes {}; it must take the key, int64[]",
                               to_string(size->argument)));
  HEADRACE_ASSIGN(rows, sized(rows, *size));
  return reduced(make_groups(std::move(rows), 0), std::move(reduce));
}

result<dataset_ptr> make_bucket_by_sequence_length(dataset_ptr input, function_ptr length,
                                                   bucket_format format) {
  constexpr std::string_view name = "bucket_by_sequence_length";
  HEADRACE_TRY(check_buckets(format));
  if (!input)
    return invalid_argument("bucket_by_sequence_length: there is no input dataset");
  if (auto traced = check_traced(by_window, "element_length_func", length); !traced.ok())
    return traced.with_context(name);
  HEADRACE_ASSIGN(auto n, integer_of(name, "element_length_func", *length));
  if (format.pad_to_boundary)
    n = debugging::assert_less(
      n, constant(format.boundaries.back()),
      fmt::format("{}: with pad_to_bucket_boundary, elements must be shorter than the last "
                  "boundary",
                  name));
  const auto bucket =
    format.boundaries.empty() ? n - n : reduce_sum(cast<int64_t>(n >= numbers(format.boundaries)));
  auto rows =
    make_map(input, with_element(*length, {bucket, gather(numbers(format.batch_sizes), bucket)}));
  if (!rows)
    return rows.status().with_context(name);
  HEADRACE_ASSIGN(auto groups, make_groups(*std::move(rows), 0, format.drop_remainder));
  const auto batch_all = [&](const expr& key, const expr_structure& elements) {
    auto group = elements_of(elements);
    if (format.no_padding)
      return make_batch(group, INT32_MAX).value();
    const auto extent =
      format.pad_to_boundary ? (gather(numbers(format.boundaries), key) - 1).node() : expr_ptr{};
    return make_padded_batch(group, INT32_MAX, format.padded_shapes, format.padding_values, false,
                             extent)
      .value();
  };
  try {
    const auto argument = groups->spec;
    return make_flat_map(std::move(groups),
                         std::make_shared<const function>(trace(
                           argument, std::function<dataset_ptr(expr, expr_structure)>{batch_all})));
  } catch (const error& e) {
    return e.why().with_context(name);
  }
}

} // namespace headrace::detail
