#include "headrace/pipeline/functions/representation/expression_makers.hpp"
#include "headrace/pipeline/makers/node_checks.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

std::optional<int64_t> constant_int(const expr_ptr& x) {
  const auto* value = constant_of(x);
  if (!value || value->type() != dtype::int64 || value->total_values() != 1)
    return std::nullopt;
  return value->values<int64_t>()[0];
}

int64_t range_size(int64_t start, int64_t stop, int64_t step) {
  if (step == 0 || (step > 0 ? stop <= start : stop >= start))
    return 0;
  const auto up = step > 0;
  const auto distance = up ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start)
                           : static_cast<uint64_t>(start) - static_cast<uint64_t>(stop);
  const auto by = up ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
  return static_cast<int64_t>(std::min((distance - 1) / by + 1, uint64_t{INT64_MAX}));
}

status check_layout(dataset_op op, const std::vector<expr_ptr>& tensors, const structure& layout) {
  if (tensors.empty())
    return refused(op, "there are no tensors; give at least one");
  if (layout.leaves() != tensors.size())
    return refused(op,
                   fmt::format("{} tensors for a layout of {}", tensors.size(), layout.leaves()));
  for (const auto& x : tensors)
    if (!x)
      return refused(op, "one of the tensors is missing");
  return {};
}

element_spec spec_of(const std::vector<expr_ptr>& tensors, const structure& layout) {
  std::vector<tensor_spec> specs;
  for (const auto& x : tensors) specs.push_back(x->spec);
  return {layout, std::move(specs)};
}

result<dataset_ptr> make_files(dataset_op op, expr_ptr files, file_compression compression) {
  HEADRACE_TRY(check_strings(op, files, "files"));
  auto node = node_of(op);
  node.tensors = {std::move(files)};
  node.parameters = file_parameters{compression};
  node.spec = tensor_spec{dtype::string, {}};
  return finish(std::move(node));
}

} // namespace

expr_ptr scalar_constant(int64_t x) {
  return make_constant(column::of_scalars(std::span<const int64_t>{&x, 1})).value();
}

expr_ptr string_constant(std::span<const std::string> xs) {
  std::vector<std::string_view> views{xs.begin(), xs.end()};
  return make_constant(
           column::of_strings(views).reshaped(shape{static_cast<int64_t>(views.size())}, 1))
    .value();
}

result<dataset_ptr> make_range(expr_ptr start, expr_ptr stop, expr_ptr step) {
  constexpr auto op = dataset_op::range;
  auto node = node_of(op);
  node.tensors = {std::move(start), std::move(stop), std::move(step)};
  constexpr std::string_view names[] = {"start", "stop", "step"};
  for (size_t i = 0; i < 3; ++i) {
    const auto& x = node.tensors[i];
    HEADRACE_TRY(check_expr(op, x, names[i]));
    if (x->spec != tensor_spec{dtype::int64, {}})
      return refused(
        op, fmt::format("{} is {}; it must be an int64 scalar", names[i], to_string(x->spec)));
  }
  const auto by = constant_int(node.tensors[2]);
  if (by == 0)
    return refused(op, "step is 0; it must be another number");
  const auto from = constant_int(node.tensors[0]);
  const auto to = constant_int(node.tensors[1]);
  if (from && to && by)
    node.cardinality = range_size(*from, *to, *by);
  node.spec = tensor_spec{dtype::int64, {}};
  return finish(std::move(node));
}

result<dataset_ptr> make_range(int64_t start, int64_t stop, int64_t step) {
  return make_range(scalar_constant(start), scalar_constant(stop), scalar_constant(step));
}

result<dataset_ptr> make_from_tensors(std::vector<expr_ptr> tensors, structure layout) {
  HEADRACE_TRY(check_layout(dataset_op::from_tensors, tensors, layout));
  auto node = node_of(dataset_op::from_tensors);
  node.spec = spec_of(tensors, layout);
  node.tensors = std::move(tensors);
  node.cardinality = 1;
  return finish(std::move(node));
}

result<dataset_ptr> make_from_tensor_slices(std::vector<expr_ptr> tensors, structure layout) {
  constexpr auto op = dataset_op::from_tensor_slices;
  HEADRACE_TRY(check_layout(op, tensors, layout));
  for (const auto& x : tensors) HEADRACE_TRY(check_expr(op, x, "tensors"));
  auto node = node_of(op);
  node.spec = spec_of(tensors, layout);
  HEADRACE_TRY(check_no_ragged(op, node.spec));
  int64_t rows = shape::unknown;
  for (size_t i = 0; i < tensors.size(); ++i) {
    auto& dims = node.spec.components[i].dims;
    if (dims.is_scalar())
      return refused(op, fmt::format("tensor {} is a scalar {}; it needs an axis to slice along", i,
                                     to_string(tensors[i]->spec)));
    if (!dims.has_rank())
      continue;
    if (rows != shape::unknown && dims[0] != shape::unknown && dims[0] != rows)
      return refused(op, fmt::format("tensor {} has {} rows, those before it {}; all need the same",
                                     i, dims[0], rows));
    if (rows == shape::unknown)
      rows = dims[0];
    dims = dims.without_leading();
  }
  node.tensors = std::move(tensors);
  node.cardinality = rows == shape::unknown ? unknown_cardinality : rows;
  return finish(std::move(node));
}

result<dataset_ptr> make_elements_of(std::vector<expr_ptr> datasets, structure layout) {
  constexpr auto op = dataset_op::elements_of;
  HEADRACE_TRY(check_layout(op, datasets, layout));
  auto node = node_of(op);
  node.spec = spec_of(datasets, layout);
  for (auto& part : node.spec.components) {
    if (!part.is_dataset())
      return refused(op, fmt::format("an argument is {}; it must be a dataset, as the elements of "
                                     "window are",
                                     to_string(part)));
    --part.nesting;
  }
  node.tensors = std::move(datasets);
  return finish(std::move(node));
}

result<dataset_ptr> make_text_lines(expr_ptr files, file_compression compression) {
  return make_files(dataset_op::text_lines, std::move(files), compression);
}

result<dataset_ptr> make_tfrecord(expr_ptr files, file_compression compression) {
  return make_files(dataset_op::tfrecord, std::move(files), compression);
}

result<dataset_ptr> make_list_files(expr_ptr patterns, bool shuffle, std::optional<uint64_t> seed) {
  HEADRACE_TRY(check_strings(dataset_op::list_files, patterns, "patterns"));
  auto node = node_of(dataset_op::list_files);
  node.tensors = {std::move(patterns)};
  node.parameters = list_files_parameters{shuffle, seed};
  node.spec = tensor_spec{dtype::string, {}};
  return finish(std::move(node));
}

} // namespace headrace::detail
