#include "headrace/pipeline/functions/representation/library.hpp"

#include <cmath>
#include <complex>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

result<tensor_spec> infer_part(const library_operands& in) {
  if (!is_complex(in[0].type))
    return invalid_argument(
      fmt::format("it is given {}; complex numbers are needed", to_string(in[0])));
  if (in.attrs.index < 0 || in.attrs.index > 2)
    return invalid_argument("the part of a complex number is 0, 1 or 2");
  return tensor_spec{in[0].type == dtype::complex64 ? dtype::float32 : dtype::float64, in[0].dims};
}

template <class T>
T part_of(const std::complex<T>& x, int64_t which) {
  return which == 0 ? x.real() : which == 1 ? x.imag() : std::hypot(x.real(), x.imag());
}

template <class T>
column run_part_of(const op_call& call) {
  const auto which = call.node.attrs.index;
  return run_rows(call, [&](size_t r, const shape& dims, column_builder& out) -> status {
    const auto from = row_values<std::complex<T>>(call.inputs[0], r);
    auto* to = out.extend(from.size());
    for (size_t i = 0; i < from.size(); ++i) {
      const auto x = part_of(from[i], which);
      std::memcpy(to + i * sizeof x, &x, sizeof x);
    }
    out.end_row(dims);
    return {};
  });
}

column run_part(const op_call& call) {
  return call.inputs[0].data->type() == dtype::complex64 ? run_part_of<float>(call)
                                                         : run_part_of<double>(call);
}

} // namespace

std::span<const library_function> complex_functions() {
  static constexpr library_function functions[] = {
    {expr_op::complex_part, "complex_part", 1, 1, infer_part, run_part},
  };
  return functions;
}

} // namespace headrace::detail
