#include "headrace/pipeline/functions/operations/ops.hpp"
#include "headrace/pipeline/functions/representation/library.hpp"
#include "headrace/pipeline/functions/representation/movement_shapes.hpp"
#include "headrace/pipeline/functions/representation/operand_rule.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

status check_indices(const library_operands& in) {
  return is_integer(in[1].type) ? status{}
                                : invalid_argument(fmt::format(
                                  "the indices are {}; they must be integers", to_string(in[1])));
}

result<tensor_spec> infer_gather_batches(const library_operands& in) {
  HEADRACE_TRY(check_indices(in));
  const auto &x = in[0].dims, &indices = in[1].dims;
  if (in.attrs.dims.size() != 1)
    return invalid_argument("the number of axes in common is needed");
  if (!x.has_rank() || !indices.has_rank())
    return tensor_spec{in[0].type, shape::unknown_rank()};
  const auto common = in.attrs.dims[0], axis = in.attrs.index;
  if (common < 0 || static_cast<size_t>(common) > indices.rank())
    return invalid_argument(
      fmt::format("batch_dims is {}; the indices have shape {}", common, to_string(indices)));
  if (axis < common || static_cast<size_t>(axis) >= x.rank())
    return invalid_argument(fmt::format("axis {} of {}; it must be between batch_dims ({}) and the "
                                        "last",
                                        axis, to_string(x), common));
  std::vector<int64_t> dims;
  for (size_t i = 0; i < static_cast<size_t>(axis); ++i) {
    auto extent = x[i];
    if (i < static_cast<size_t>(common)) {
      if (extent != shape::unknown && indices[i] != shape::unknown && extent != indices[i])
        return invalid_argument(
          fmt::format("shapes {} and {} differ in the first {} extents, which both must have",
                      to_string(x), to_string(indices), common));
      extent = extent == shape::unknown ? indices[i] : extent;
    }
    dims.push_back(extent);
  }
  for (auto i = static_cast<size_t>(common); i < indices.rank(); ++i) dims.push_back(indices[i]);
  for (auto i = static_cast<size_t>(axis) + 1; i < x.rank(); ++i) dims.push_back(x[i]);
  return tensor_spec{in[0].type, shape{std::move(dims)}};
}

column run_gather_batches(const op_call& call) {
  const auto& attrs = call.node.attrs;
  const auto common = static_cast<size_t>(attrs.dims[0]);
  std::vector<int64_t> indices;
  return run_rows(call, [&](size_t r, const shape& dims, column_builder& out) -> status {
    const auto x = layout_along(call.inputs[0].shape_of(r), static_cast<size_t>(attrs.index));
    const auto rows = call.inputs[1].shape_of(r);
    const auto batches = *shape{rows.dims().first(common)}.elements();
    const auto each = *shape{rows.dims().subspan(common)}.elements();
    indices.clear();
    for (int64_t i = 0; i < batches * each; ++i) {
      indices.push_back(integer_at(call.inputs[1], r, static_cast<size_t>(i)));
      if (indices.back() < 0 || indices.back() >= x.extent)
        return invalid_argument(
          fmt::format("index {} is not in [0, {})", indices.back(), x.extent));
    }
    const auto base = call.inputs[0].first_value(r);
    const auto outer = batches == 0 ? 0 : x.outer / batches; // the outer runs of each batch
    for (int64_t b = 0; b < batches; ++b)
      for (int64_t o = 0; o < outer; ++o)
        for (int64_t i = 0; i < each; ++i)
          append_values(
            out, *call.inputs[0].data,
            base
              + ((b * outer + o) * x.extent + indices[static_cast<size_t>(b * each + i)]) * x.inner,
            x.inner);
    out.end_row(dims);
    return {};
  });
}

} // namespace

std::span<const library_function> gather_functions() {
  static constexpr operand_rule gathered{
    .takes = kinds::any,
    .dims = [](const expr_attrs& attrs,
               std::span<const shape> in) { return movement::gather(attrs, in[0], in[1]); },
    .one_type = false,
    .check = check_indices};
  static constexpr library_function functions[] = {
    {expr_op::gather, "gather", 2, 2, infer_by<gathered>, run_gather},
    {expr_op::gather_batches, "gather", 2, 2, infer_gather_batches, run_gather_batches},
  };
  return functions;
}

} // namespace headrace::detail
