#include "headrace/pipeline/functions/operations/nan_order.hpp"
#include "headrace/pipeline/functions/representation/library.hpp"
#include "headrace/pipeline/functions/representation/shapes.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace headrace::detail {

namespace {

constexpr int64_t most_places = int64_t{1} << 30;

// -- one_hot -------------------------------------------------------------------

result<tensor_spec> infer_one_hot(const library_operands& in) {
  if (!is_integer(in[0].type))
    return invalid_argument(
      fmt::format("the indices are {}; they must be integers", to_string(in[0])));
  if (in[1].type != in[2].type)
    return invalid_argument(
      fmt::format("on and off values are {} and {}; cast one", to_string(in[1]), to_string(in[2])));
  for (const auto i : {size_t{1}, size_t{2}})
    if (in[i].dims.has_rank() && !in[i].dims.is_scalar())
      return invalid_argument(
        fmt::format("a value has shape {}; a scalar is needed", to_string(in[i].dims)));
  if (in.attrs.dims.size() != 1 || in.attrs.dims[0] < 0 || in.attrs.dims[0] > most_places)
    return invalid_argument(fmt::format("depth must be in [0, {}]", most_places));
  if (in[1].type == dtype::string)
    return invalid_argument("values are strings; numbers or bools are needed");
  const auto depth = in.attrs.dims[0];
  if (!in[0].dims.has_rank())
    return tensor_spec{in[1].type, shape::unknown_rank()};
  HEADRACE_ASSIGN(const auto axis, normal_axis(in.attrs.index, in[0].dims.rank() + 1));
  std::vector<int64_t> dims{in[0].dims.dims().begin(), in[0].dims.dims().end()};
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), depth);
  int64_t n = 1;
  for (auto dim : dims)
    if (dim > 0 && (__builtin_mul_overflow(n, dim, &n) || n > most_places))
      return invalid_argument(fmt::format("the result has more than {} values", most_places));
  return tensor_spec{in[1].type, shape{std::move(dims)}};
}

column run_one_hot(const op_call& call) {
  const auto depth = call.node.attrs.dims[0];
  const auto size = size_of(call.node.spec.type);
  return run_rows(call, [&](size_t r, const shape& dims, column_builder& out) -> status {
    const auto axis = *normal_axis(call.node.attrs.index, dims.rank());
    const auto parts = layout_along(dims, axis);
    const auto value = [&](size_t i) {
      return call.inputs[i].data->value_buffer().data()
             + static_cast<size_t>(call.inputs[i].first_value(r)) * size;
    };
    const auto n = static_cast<size_t>(*dims.elements());
    auto* to = out.extend(n);
    for (size_t i = 0; i < n; ++i) std::memcpy(to + i * size, value(2), size);
    for (int64_t o = 0; o < (depth == 0 ? 0 : parts.outer); ++o)
      for (int64_t i = 0; i < parts.inner; ++i) {
        const auto index = integer_at(call.inputs[0], r, static_cast<size_t>(o * parts.inner + i));
        if (index >= 0 && index < depth)
          std::memcpy(to + static_cast<size_t>((o * depth + index) * parts.inner + i) * size,
                      value(1), size);
      }
    out.end_row(dims);
    return {};
  });
}

// -- sort ----------------------------------------------------------------------

result<tensor_spec> infer_sort(const library_operands& in) {
  if (!is_integer(in[0].type) && !is_floating(in[0].type))
    return invalid_argument(
      fmt::format("the values are {}; they must be integers or floats", to_string(in[0])));
  if (in.attrs.dims.size() != 1 || in.attrs.dims[0] < -1)
    return invalid_argument("how many to keep must be given; -1 keeps all");
  if (!in[0].dims.has_rank())
    return tensor_spec{in[0].type, shape::unknown_rank()};
  if (in[0].dims.is_scalar())
    return invalid_argument("a scalar has no axis to sort along");
  HEADRACE_ASSIGN(const auto axis, normal_axis(in.attrs.index, in[0].dims.rank()));
  std::vector<int64_t> dims{in[0].dims.dims().begin(), in[0].dims.dims().end()};
  const auto kept = in.attrs.dims[0];
  if (kept > std::numeric_limits<int32_t>::max())
    return invalid_argument("more than 2^31 values to keep");
  if (kept >= 0 && dims[axis] != shape::unknown && kept > dims[axis])
    return invalid_argument(fmt::format("k is {}, but axis {} of {} has {} values", kept,
                                        in.attrs.index, to_string(in[0].dims), dims[axis]));
  if (kept >= 0)
    dims[axis] = kept;
  return tensor_spec{in[0].type, shape{std::move(dims)}};
}

result<tensor_spec> infer_argsort(const library_operands& in) {
  HEADRACE_ASSIGN(auto out, infer_sort(in));
  out.type = dtype::int32;
  return out;
}

/// The values of a line, which are `step` apart.
template <class T>
struct ordered_line {
  const T* x;
  int64_t step;
  bool descending;

  auto value(int32_t i) const {
    if constexpr (is_floating(dtype_of<T>))
      return static_cast<double>(x[i * step]);
    else
      return x[i * step];
  }
  bool equal(int32_t i, int32_t j) const { return value(i) == value(j); }
  /// True if the value of place `i` comes before the value of place `j`; false if one is NaN.
  bool operator()(int32_t i, int32_t j) const {
    return descending ? value(j) < value(i) : value(i) < value(j);
  }
  bool has_nan(size_t n) const {
    for (size_t i = 0; i < n; ++i)
      if (!equal(static_cast<int32_t>(i), static_cast<int32_t>(i)))
        return true;
    return false;
  }
};

/// Puts the places of the first `kept` values of the sorted line to the front of `places`. Equal
/// values keep their order.
template <class T>
void order_line(const T* x, int64_t step, std::vector<int32_t>& places, size_t kept,
                bool descending) {
  const ordered_line<T> before{x, step, descending};
  if (is_floating(dtype_of<T>) && before.has_nan(places.size())) {
    nan_order{places, before}.sort(kept);
    return;
  }
  std::iota(places.begin(), places.end(), 0);
  const auto comes_first = [&](int32_t i, int32_t j) {
    return before(i, j) || (!before(j, i) && i < j);
  };
  if (kept < places.size() / 4)
    std::partial_sort(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(kept),
                      places.end(), comes_first);
  else
    std::sort(places.begin(), places.end(), comes_first);
}

template <bool Places>
column run_sort(const op_call& call) {
  std::vector<int32_t> places;
  return run_rows(call, [&](size_t r, const shape& dims, column_builder& out) -> status {
    const auto row = call.inputs[0].shape_of(r);
    const auto axis = *normal_axis(call.node.attrs.index, row.rank());
    const auto from = layout_along(row, axis);
    const auto kept = dims[axis];
    if (*dims.elements() == 0) {
      out.end_row(dims);
      return {};
    }
    if (from.extent > std::numeric_limits<int32_t>::max())
      return invalid_argument("more than 2^31 values in a line");
    places.resize(static_cast<size_t>(from.extent));
    auto* to = out.extend(static_cast<size_t>(*dims.elements()));
    visit_plain(call.inputs[0].data->type(), [&]<class T>(T) {
      if constexpr (!is_complex(dtype_of<T>) && dtype_of<T> != dtype::boolean) {
        const auto values = row_values<T>(call.inputs[0], r);
        for (int64_t o = 0; o < from.outer; ++o)
          for (int64_t i = 0; i < from.inner; ++i) {
            const auto* line = values.data() + o * from.extent * from.inner + i;
            order_line(line, from.inner, places, static_cast<size_t>(kept), call.node.attrs.flag);
            for (int64_t k = 0; k < kept; ++k) {
              const auto at = (o * kept + k) * from.inner + i;
              const auto place = places[static_cast<size_t>(k)];
              if constexpr (Places)
                reinterpret_cast<int32_t*>(to)[at] = place;
              else
                reinterpret_cast<T*>(to)[at] = line[place * from.inner];
            }
          }
      }
    });
    out.end_row(dims);
    return {};
  });
}

} // namespace

std::span<const library_function> ordering_functions() {
  static constexpr library_function functions[] = {
    {expr_op::one_hot, "one_hot", 3, 3, infer_one_hot, run_one_hot},
    {expr_op::sort, "sort", 1, 1, infer_sort, run_sort<false>},
    {expr_op::argsort, "argsort", 1, 1, infer_argsort, run_sort<true>},
  };
  return functions;
}

} // namespace headrace::detail
