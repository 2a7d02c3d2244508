#include "headrace/pipeline/functions/operations/ops.hpp"
#include "headrace/pipeline/functions/representation/library.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

result<tensor_spec> infer_to_tensor(const library_operands& in) {
  const auto& values = in[0].dims;
  if (values.has_rank() && values.rank() == 0)
    return invalid_argument("the values are a scalar; they need an axis");
  if (!is_integer(in[1].type) || (in[1].dims.has_rank() && in[1].dims.rank() != 1))
    return invalid_argument(
      fmt::format("the row lengths are {}; they must be a vector of integers", to_string(in[1])));
  if (in[2].type != in[0].type)
    return invalid_argument(fmt::format("the values are {} and the default {}; cast one",
                                        to_string(in[0]), to_string(in[2])));
  if (in[2].dims.has_rank() && !in[2].dims.is_scalar())
    return invalid_argument(
      fmt::format("the default is {}; it must be a scalar", to_string(in[2])));
  if (!values.has_rank())
    return tensor_spec{in[0].type, shape::unknown_rank()};
  auto dims = values.without_leading().with_leading(shape::unknown);
  return tensor_spec{in[0].type,
                     dims.with_leading(in[1].dims.has_rank() ? in[1].dims[0] : shape::unknown)};
}

column run_to_tensor(const op_call& call) {
  return run_rows(call, [&](size_t r, const shape&, column_builder& out) -> status {
    const auto& values = *call.inputs[0].data;
    const auto dims = call.inputs[0].shape_of(r);
    const auto rows = call.inputs[1].shape_of(r)[0];
    std::vector<int64_t> lengths;
    int64_t sum = 0, longest = 0;
    for (int64_t i = 0; i < rows; ++i) {
      const auto n = integer_at(call.inputs[1], r, static_cast<size_t>(i));
      if (n < 0 || n > dims[0])
        return invalid_argument(fmt::format("a row of length {} in {} values", n, dims[0]));
      lengths.push_back(n);
      sum += n;
      longest = std::max(longest, n);
    }
    if (sum != dims[0])
      return invalid_argument(
        fmt::format("the row lengths add up to {}; there are {} values", sum, dims[0]));
    const auto inner = dims.without_leading();
    const auto width = *inner.elements();
    if (width != 0 && longest != 0 && rows > (int64_t{1} << 40) / width / longest)
      return resource_exhausted(
        fmt::format("{} rows of {} values each are too many", rows, longest * width));
    auto from = call.inputs[0].first_value(r);
    for (auto n : lengths) {
      append_values(out, values, from, n * width);
      from += n * width;
      for (auto i = n * width; i < longest * width; ++i)
        append_values(out, *call.inputs[2].data, call.inputs[2].first_value(r), 1);
    }
    out.end_row(inner.with_leading(longest).with_leading(rows));
    return {};
  });
}

} // namespace

std::span<const library_function> ragged_functions() {
  static constexpr library_function functions[] = {
    {expr_op::ragged_to_tensor, "ragged.to_tensor", 3, 3, infer_to_tensor, run_to_tensor},
  };
  return functions;
}

} // namespace headrace::detail
