#include "headrace/pipeline/functions/representation/expression_makers.hpp"
#include "headrace/pipeline/makers/node_checks.hpp"
#include "headrace/pipeline/types/block.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

/// A column of one row, which is the scalar zero or an empty string.
column zero_of(dtype type) { return block::failed_row({tensor_spec{type, {}}}, {}).columns[0]; }

result<shape> padded_dims(size_t component, const shape& in, const shape& asked) {
  constexpr auto op = dataset_op::padded_batch;
  if (!asked.has_rank() || (in.has_rank() && in.rank() != asked.rank()))
    return refused(op, fmt::format("component {} is of shape {}, but its padded shape is {}; the "
                                   "ranks must be equal",
                                   component, to_string(in), to_string(asked)));
  for (size_t i = 0; in.has_rank() && i < in.rank(); ++i)
    if (asked[i] != shape::unknown && in[i] > asked[i])
      return refused(op, fmt::format("component {} is of shape {}, which is larger than its padded "
                                     "shape {}",
                                     component, to_string(in), to_string(asked)));
  return asked;
}

/// The structure of `spec` with a ragged tensor in place of each component with unknown extents.
structure with_ragged_leaves(const element_spec& spec) {
  if (spec.layout.is_leaf()) {
    const auto axes = ragged_axes(spec.components[0].dims);
    return axes == 0 ? structure{} : structure::ragged(axes);
  }
  std::vector<structure> children;
  for (size_t i = 0; i < spec.layout.children().size(); ++i)
    children.push_back(with_ragged_leaves(spec.child(i)));
  if (spec.layout.what() == structure::kind::tuple)
    return structure::tuple(std::move(children)).labelled(spec.layout.label());
  return structure::named(spec.layout.names(), std::move(children)).labelled(spec.layout.label());
}

} // namespace

size_t ragged_axes(const shape& dims) noexcept {
  size_t out = 0;
  for (size_t i = 0; dims.has_rank() && i < dims.rank(); ++i)
    if (dims[i] == shape::unknown)
      out = i + 1;
  return out;
}

result<dataset_ptr> make_unbatch(dataset_ptr input) {
  if (!input)
    return invalid_argument("unbatch: there is no input dataset");
  if (has_datasets(input->spec))
    return invalid_argument(fmt::format(
      "unbatch: the input gives {}; use flat_map to take datasets apart", to_string(input->spec)));
  if (has_ragged(input->spec.layout))
    return invalid_argument(fmt::format("unbatch: the input gives {}; make tensors of ragged ones "
                                        "before, with to_tensor in a map",
                                        to_string(input->spec)));
  for (size_t i = 0; i < input->spec.components.size(); ++i)
    if (const auto& part = input->spec.components[i]; part.dims.has_rank() && part.dims.rank() == 0)
      return invalid_argument(
        fmt::format("unbatch: component {} is a scalar {}; it needs an axis to take apart", i,
                    to_string(part)));
  auto body = std::make_shared<function>();
  body->scope = std::make_shared<const function_scope>();
  body->argument = input->spec;
  std::vector<expr_ptr> tensors;
  for (size_t i = 0; i < input->spec.components.size(); ++i)
    tensors.push_back(
      make_parameter(body->scope, static_cast<int64_t>(i), input->spec.components[i]));
  auto rows = make_from_tensor_slices(std::move(tensors), input->spec.layout);
  if (!rows)
    return rows.status().with_context("unbatch");
  body->dataset = *std::move(rows);
  return make_flat_map(std::move(input), std::move(body));
}

result<dataset_ptr> make_padded_batch(dataset_ptr input, const number_argument& size,
                                      std::vector<shape> padded_shapes,
                                      std::vector<std::optional<column>> padding_values,
                                      bool drop_remainder, expr_ptr unknown_extent) {
  constexpr auto op = dataset_op::padded_batch;
  const auto known = size.known();
  HEADRACE_TRY(check_tensors(op, input));
  HEADRACE_TRY(check_no_ragged(op, input->spec));
  HEADRACE_TRY(size.check(op, "batch_size"));
  if (known)
    HEADRACE_TRY(check_size(op, "batch_size", *known));
  if (unknown_extent && unknown_extent->spec != tensor_spec{dtype::int64, {}})
    return refused(op, fmt::format("the extent of unknown axes is {}; it must be an int64 scalar",
                                   to_string(unknown_extent->spec)));
  auto node = node_of(op, {input});
  node.spec = input->spec;
  padded_batch_parameters own{{known, drop_remainder}, unknown_extent != nullptr, {}};
  auto& parts = node.spec.components;
  if (!padded_shapes.empty() && padded_shapes.size() != parts.size())
    return refused(op, fmt::format("there are {} padded shapes for {} components",
                                   padded_shapes.size(), parts.size()));
  if (!padding_values.empty() && padding_values.size() != parts.size())
    return refused(op, fmt::format("there are {} padding values for {} components",
                                   padding_values.size(), parts.size()));
  for (size_t i = 0; i < parts.size(); ++i) {
    auto& part = parts[i];
    if (padded_shapes.empty() && !part.dims.has_rank())
      return refused(op, fmt::format("component {} is of unknown rank; give its padded shape", i));
    HEADRACE_ASSIGN(
      auto dims, padded_dims(i, part.dims, padded_shapes.empty() ? part.dims : padded_shapes[i]));
    auto value = padding_values.empty() || !padding_values[i] ? zero_of(part.type)
                                                              : *std::move(padding_values[i]);
    if (value.type() != part.type || value.rows() != 1 || value.rank() != 0)
      return refused(op, fmt::format("the padding value of component {} is of {}{}; it must be "
                                     "a scalar of {}",
                                     i, to_string(value.type()), to_string(value.shape_of(0)),
                                     to_string(part.type)));
    own.fields.push_back({{}, {part.type, dims}, std::move(value)});
    part.dims = dims.with_leading(drop_remainder && known ? *known : shape::unknown);
  }
  node.cardinality = cardinality_of_batches(input->cardinality, known, drop_remainder);
  node.parameters = std::move(own);
  if (unknown_extent)
    node.tensors = {std::move(unknown_extent)};
  size.put_into(node);
  return finish(std::move(node));
}

result<dataset_ptr> make_ragged_batch(dataset_ptr input, const number_argument& size,
                                      bool drop_remainder) {
  constexpr auto op = dataset_op::ragged_batch;
  const auto known = size.known();
  HEADRACE_TRY(check_tensors(op, input));
  HEADRACE_TRY(size.check(op, "batch_size"));
  if (known)
    HEADRACE_TRY(check_size(op, "batch_size", *known));
  if (has_ragged(input->spec.layout))
    return refused(op, fmt::format("the input gives {}; ragged tensors cannot be batched again",
                                   to_string(input->spec)));
  auto node = node_of(op, {input});
  node.cardinality = cardinality_of_batches(input->cardinality, known, drop_remainder);
  const auto batch = drop_remainder && known ? *known : shape::unknown;
  node.spec.layout = with_ragged_leaves(input->spec);
  for (size_t i = 0; i < input->spec.components.size(); ++i) {
    const auto& part = input->spec.components[i];
    if (!part.dims.has_rank())
      return refused(op, fmt::format("component {} is of unknown rank", i));
    const auto axes = ragged_axes(part.dims);
    if (axes == 0) {
      node.spec.components.push_back({part.type, part.dims.with_leading(batch)});
      continue;
    }
    const shape inner{part.dims.dims().subspan(axes)};
    node.spec.components.push_back({part.type, inner.with_leading(shape::unknown)});
    for (size_t axis = 0; axis < axes; ++axis)
      node.spec.components.push_back({dtype::int64, {axis == 0 ? batch : shape::unknown}});
  }
  node.parameters = batch_parameters{known, drop_remainder};
  size.put_into(node);
  return finish(std::move(node));
}

result<dataset_ptr> make_window(dataset_ptr input, int64_t size, int64_t shift, int64_t stride,
                                bool drop_remainder) {
  constexpr auto op = dataset_op::window;
  HEADRACE_TRY(check_input(op, input));
  HEADRACE_TRY(check_size(op, "size", size));
  HEADRACE_TRY(check_size(op, "shift", shift));
  HEADRACE_TRY(check_size(op, "stride", stride));
  const auto span = (size - 1) * stride + 1;
  if (span > INT32_MAX)
    return refused(op, fmt::format("a window of {} elements with stride {} spans {}; at most {} "
                                   "are allowed",
                                   size, stride, span, INT32_MAX));
  auto node = node_of(op, {input});
  node.spec = input->spec;
  for (auto& part : node.spec.components)
    if (++part.nesting > most_nesting)
      return refused(op, fmt::format("datasets nested more than {} deep", most_nesting));
  node.cardinality = input->cardinality;
  if (const auto n = input->cardinality; n > 0)
    node.cardinality = !drop_remainder ? (n - 1) / shift + 1
                       : n < span      ? 0
                                       : (n - span) / shift + 1;
  node.parameters = window_parameters{size, shift, stride, drop_remainder};
  return finish(std::move(node));
}

result<dataset_ptr> make_scan(dataset_ptr input, std::vector<expr_ptr> initial_state,
                              function_ptr body) {
  constexpr auto op = dataset_op::scan;
  HEADRACE_TRY(check_input(op, input));
  if (!body || body->dataset)
    return refused(op, "there must be a function that gives tensors");
  const auto& takes = body->argument;
  const auto gives = body->result();
  if (takes.layout.is_leaf() || takes.layout.children().size() != 2 || gives.layout.is_leaf()
      || gives.layout.children().size() != 2)
    return refused(op, fmt::format("the function takes {} and gives {}; it must take (state, "
                                   "element) and give (new state, output)",
                                   to_string(takes), to_string(gives)));
  const auto state = takes.child(0);
  if (!takes.child(1).accepts(input->spec))
    return refused(op, fmt::format("the function takes elements of {}, but the input gives {}",
                                   to_string(takes.child(1)), to_string(input->spec)));
  if (initial_state.size() != state.components.size())
    return refused(op, fmt::format("there are {} tensors of initial state; the function takes {}",
                                   initial_state.size(), to_string(state)));
  std::vector<tensor_spec> first;
  for (const auto& x : initial_state) {
    HEADRACE_TRY(check_expr(op, x, "initial_state"));
    first.push_back(x->spec);
  }
  if (const element_spec initial{state.layout, std::move(first)}; !state.accepts(initial))
    return refused(op, fmt::format("the initial state is {}; the function takes {}",
                                   to_string(initial), to_string(state)));
  const auto next = gives.child(0);
  bool fits = next.layout == state.layout;
  for (size_t i = 0; fits && i < state.components.size(); ++i)
    fits = next.components[i].type == state.components[i].type && !next.components[i].is_dataset();
  if (!fits)
    return refused(op,
                   fmt::format("the function gives the new state {}; it must give {}, as "
                               "the initial state is: cast what it gives, or begin with another "
                               "dtype",
                               to_string(next), to_string(state)));
  auto node = node_of(op, {input});
  node.spec = gives.child(1);
  node.cardinality = input->cardinality;
  node.tensors = std::move(initial_state);
  node.body = std::move(body);
  return finish(std::move(node));
}

} // namespace headrace::detail
