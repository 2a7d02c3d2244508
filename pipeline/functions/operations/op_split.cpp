#include "headrace/pipeline/functions/operations/string_columns.hpp"
#include "headrace/pipeline/functions/representation/library.hpp"
#include "headrace/pipeline/kernels/string_scalar.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

status check_vector(const tensor_spec& x) {
  if (x.type != dtype::string || (x.dims.has_rank() && x.dims.rank() != 1))
    return invalid_argument(
      fmt::format("the operand is {}; a vector of strings is needed", to_string(x)));
  return {};
}

result<tensor_spec> infer_values(const library_operands& in) {
  HEADRACE_TRY(check_vector(in[0]));
  return tensor_spec{dtype::string, {shape::unknown}};
}

result<tensor_spec> infer_lengths(const library_operands& in) {
  HEADRACE_TRY(check_vector(in[0]));
  return tensor_spec{dtype::int64, in[0].dims.has_rank() ? in[0].dims : shape{shape::unknown}};
}

column run_values(const op_call& call) {
  return run_rows(call, [&](size_t r, const shape&, column_builder& out) -> status {
    const auto& in = *call.inputs[0].data;
    const auto row = call.inputs[0].row(r);
    int64_t parts = 0;
    for (auto v = in.first_value(row); v < in.first_value(row + 1); ++v)
      text::split(in.string(static_cast<size_t>(v)), call.node.attrs.text,
                  [&](std::string_view part) {
                    out.add_string(part);
                    ++parts;
                  });
    out.end_row(shape{parts});
    return {};
  });
}

column run_lengths(const op_call& call) {
  return measure_strings<int64_t>(*call.inputs[0].data, [&](std::string_view x) {
    int64_t parts = 0;
    text::split(x, call.node.attrs.text, [&](std::string_view) { ++parts; });
    return parts;
  });
}

} // namespace

std::span<const library_function> split_functions() {
  static constexpr library_function functions[] = {
    {expr_op::split_values, "strings.split", 1, 1, infer_values, run_values},
    {expr_op::split_lengths, "strings.split", 1, 1, infer_lengths, run_lengths},
  };
  return functions;
}

} // namespace headrace::detail
