#include "headrace/pipeline/functions/representation/library.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

/// The `library_function` of each `expr_op`, indexed by the number of the `expr_op`; null for other
/// numbers.
std::vector<const library_function*> all_functions() {
  std::vector<const library_function*> out;
  for (const auto group :
       {elementwise_functions(), reduction_functions(),   movement_functions(),
        string_functions(),      example_functions(),     ordering_functions(),
        numeric_functions(),     checking_functions(),    control_functions(),
        ragged_functions(),      text_functions(),        lookup_functions(),
        random_functions(),      image_codec_functions(), image_functions(),
        resize_functions(),      gather_functions(),      split_functions(),
        csv_functions(),         file_functions(),        tensor_proto_functions(),
        extent_functions(),      complex_functions()})
    for (const auto& f : group) {
      const auto number = static_cast<size_t>(f.op);
      out.resize(std::max(out.size(), number + 1));
      out[number] = &f;
    }
  return out;
}

/// The spec of the function's result for these operands. Fails if its shape is not bounded.
result<tensor_spec> bounded_spec(const library_function& f, const library_operands& in) {
  HEADRACE_ASSIGN(auto out, f.infer(in));
  HEADRACE_TRY(check_bounded(out.dims));
  return out;
}

} // namespace

const library_function* find_library_function(expr_op op) noexcept {
  static const auto all = all_functions();
  const auto number = static_cast<size_t>(op);
  return number < all.size() ? all[number] : nullptr;
}

result<tensor_spec> infer(expr_op op, const std::vector<expr_ptr>& inputs, const expr_attrs& attrs,
                          dtype type) {
  const auto* f = find_library_function(op);
  if (!f)
    return invalid_argument("not a function of operands");
  if (inputs.size() < f->least_operands || inputs.size() > f->most_operands)
    return invalid_argument(fmt::format("{} operands given; {} needed", inputs.size(),
                                        f->least_operands == f->most_operands
                                          ? std::to_string(f->least_operands)
                                          : fmt::format("at least {}", f->least_operands)));
  std::vector<tensor_spec> specs;
  for (const auto& x : inputs) specs.push_back(x->spec);
  return bounded_spec(*f, {specs, attrs, type});
}

result<shape> result_shape(const expr_node& of, std::span<const shape> inputs) {
  std::vector<tensor_spec> specs;
  for (size_t i = 0; i < inputs.size(); ++i) specs.push_back({of.inputs[i]->spec.type, inputs[i]});
  HEADRACE_ASSIGN(auto spec,
                  bounded_spec(*find_library_function(of.op), {specs, of.attrs, of.spec.type}));
  return std::move(spec.dims);
}

row_specs::row_specs(const op_call& call)
  : call_(call), function_(*find_library_function(call.node.op)), specs_(call.inputs.size()) {}

result<shape> row_specs::at(size_t r) {
  bool same = last_.has_value();
  for (size_t i = 0; i < specs_.size(); ++i) {
    const auto& in = call_.inputs[i];
    if (same && (in.uniform || in.data->is_dense()))
      continue;
    auto dims = in.shape_of(r);
    same = same && dims == specs_[i].dims;
    specs_[i] = {in.data->type(), std::move(dims)};
  }
  if (!same) {
    auto spec = bounded_spec(function_, {specs_, call_.node.attrs, call_.node.spec.type});
    last_ = spec ? result<shape>{std::move(spec->dims)} : result<shape>{spec.status()};
  }
  return *last_;
}

size_t row_specs::result_rank() const noexcept {
  if (call_.node.spec.dims.has_rank())
    return call_.node.spec.dims.rank();
  std::vector<tensor_spec> specs;
  for (const auto& in : call_.inputs)
    specs.push_back(
      {in.data->type(), shape{std::vector<int64_t>(in.data->rank(), shape::unknown)}});
  const auto spec = function_.infer({specs, call_.node.attrs, call_.node.spec.type});
  return spec && spec->dims.has_rank() ? spec->dims.rank() : 0;
}

int64_t integer_at(const operand& in, size_t r, size_t i) {
  return visit_plain(in.data->type(), [&]<class T>(T) -> int64_t {
    if constexpr (std::is_integral_v<T>) {
      const auto x = row_values<T>(in, r)[i];
      return std::in_range<int64_t>(+x) ? static_cast<int64_t>(x)
                                        : std::numeric_limits<int64_t>::max();
    } else {
      return 0;
    }
  });
}

axis_layout layout_along(const shape& dims, size_t axis) {
  axis_layout out;
  for (size_t i = 0; i < dims.rank(); ++i)
    (i < axis ? out.outer : i == axis ? out.extent : out.inner) *= dims[i];
  return out;
}

} // namespace headrace::detail
