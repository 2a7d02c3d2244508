#include "headrace/pipeline/functions/representation/library.hpp"

#include <cmath>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

/// Input 0. It is the result of all functions in this file, which only decide which rows fail.
column pass_through(const op_call& call) {
  const auto& in = call.inputs[0];
  return in.uniform ? repeat_row(*in.data, call.rows) : *in.data;
}

// -- ensure_shape --------------------------------------------------------------

result<tensor_spec> infer_ensure_shape(const library_operands& in) {
  if (in.attrs.flag)
    return in[0];
  for (auto dim : in.attrs.dims)
    if (dim < -1)
      return invalid_argument(fmt::format("extent {}; -1 stands for any", dim));
  const shape wanted{in.attrs.dims};
  const auto& dims = in[0].dims;
  if (!dims.has_rank())
    return tensor_spec{in[0].type, wanted};
  const auto wrong = [&] {
    return invalid_argument(
      fmt::format("the shape is {}; {} is needed", to_string(dims), to_string(wanted)));
  };
  if (dims.rank() != wanted.rank())
    return wrong();
  std::vector<int64_t> out;
  for (size_t i = 0; i < dims.rank(); ++i) {
    if (dims[i] != wanted[i] && dims[i] >= 0 && wanted[i] >= 0)
      return wrong();
    out.push_back(std::max(dims[i], wanted[i]));
  }
  return tensor_spec{in[0].type, shape{std::move(out)}};
}

column run_ensure_shape(const op_call& call) {
  row_specs specs{call};
  for (size_t r = 0; r < call.rows; ++r)
    if (!call.skips(r))
      if (const auto dims = specs.at(r); !dims)
        call.fail(r, dims.status());
  return pass_through(call);
}

// -- check ---------------------------------------------------------------------

result<tensor_spec> infer_check(const library_operands& in) {
  if (in[1].type != dtype::boolean)
    return invalid_argument(fmt::format("the condition is {}; it must be bool", to_string(in[1])));
  if (in.attrs.texts.size() + 1 != in.size())
    return invalid_argument("each value that is shown needs a name");
  if (in.attrs.dims.size() > 1)
    return invalid_argument("one number says how many values are shown");
  return in[0];
}

/// The most values of each operand that a message shows.
int64_t most_shown(const expr_attrs& attrs) {
  constexpr int64_t usual = 3, all = 1'000;
  const auto asked = attrs.dims.empty() ? usual : attrs.dims[0];
  return asked < 0 ? all : std::min(asked, all);
}

std::string show(const operand& in, size_t r, int64_t most) {
  const auto row = in.row(r);
  const auto first = in.data->first_value(row), last = in.data->first_value(row + 1);
  std::string out;
  for (auto i = first; i < std::min(last, first + most); ++i) {
    const auto at = static_cast<size_t>(i);
    out += out.empty() ? "" : ", ";
    if (in.data->is_string()) {
      out += fmt::format("'{}'", in.data->string(at).substr(0, 64));
      continue;
    }
    visit_plain(in.data->type(), [&]<class T>(T) {
      const T x = in.data->values<T>()[at];
      if constexpr (is_complex(dtype_of<T>))
        out += fmt::format("{}+{}i", x.real(), x.imag());
      else if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>)
        out += fmt::format("{}", static_cast<float>(x));
      else if constexpr (std::is_same_v<T, bool>)
        out += x ? "true" : "false";
      else
        out += fmt::format("{}", x);
    });
  }
  if (last > first + most)
    out += ", ...";
  return in.data->rank() == 0 ? out : fmt::format("[{}]", out);
}

column run_check(const op_call& call) {
  const auto& attrs = call.node.attrs;
  for (size_t r = 0; r < call.rows; ++r) {
    if (call.skips(r))
      continue;
    bool holds = true;
    for (auto flag : row_values<bool>(call.inputs[1], r)) holds = holds && flag;
    if (holds)
      continue;
    auto why = attrs.text.empty() ? std::string{"does not hold"} : attrs.text;
    for (size_t i = 2; i < call.inputs.size(); ++i)
      why += fmt::format("{} {} = {}", i == 2 ? ":" : ",", attrs.texts[i - 1],
                         show(call.inputs[i], r, most_shown(attrs)));
    call.errors.push_back(
      {static_cast<uint32_t>(r), invalid_argument(std::move(why)).with_context(attrs.texts[0])});
  }
  return pass_through(call);
}

// -- check_numerics ------------------------------------------------------------

result<tensor_spec> infer_check_numerics(const library_operands& in) {
  if (!is_floating(in[0].type))
    return invalid_argument(
      fmt::format("the values are {}; they must be floats", to_string(in[0])));
  return in[0];
}

column run_check_numerics(const op_call& call) {
  visit_plain(call.node.spec.type, [&]<class T>(T) {
    if constexpr (is_floating(dtype_of<T>))
      for (size_t r = 0; r < call.rows; ++r) {
        if (call.skips(r))
          continue;
        bool nan = false, infinite = false;
        for (auto x : row_values<T>(call.inputs[0], r)) {
          const auto value = static_cast<double>(x);
          nan = nan || std::isnan(value);
          infinite = infinite || std::isinf(value);
        }
        if (nan || infinite)
          call.fail(
            r, invalid_argument(fmt::format("{}: the tensor has {} values", call.node.attrs.text,
                                            nan && infinite ? "Inf and NaN"
                                            : nan           ? "NaN"
                                                            : "Inf")));
      }
  });
  return pass_through(call);
}

} // namespace

std::span<const library_function> checking_functions() {
  static constexpr library_function functions[] = {
    {expr_op::ensure_shape, "ensure_shape", 1, 1, infer_ensure_shape, run_ensure_shape},
    {expr_op::check, "debugging.Assert", 2, 16, infer_check, run_check},
    {expr_op::check_numerics, "debugging.check_numerics", 1, 1, infer_check_numerics,
     run_check_numerics},
  };
  return functions;
}

} // namespace headrace::detail
