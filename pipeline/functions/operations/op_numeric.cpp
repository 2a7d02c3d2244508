#include "headrace/pipeline/functions/representation/expression_makers.hpp"
#include "headrace/pipeline/functions/representation/library.hpp"
#include "headrace/pipeline/functions/representation/shapes.hpp"
#include "headrace/pipeline/kernels/matmul.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

// -- running sums and products -------------------------------------------------

result<tensor_spec> infer_running(const library_operands& in) {
  if (in[0].type == dtype::string || in[0].type == dtype::boolean)
    return invalid_argument(
      fmt::format("the values are {}; they must be numbers", to_string(in[0])));
  if (in[0].dims.is_scalar())
    return invalid_argument("a scalar has no axis to go along");
  if (in.attrs.dims.size() != 1)
    return invalid_argument("the direction must be given");
  if (in[0].dims.has_rank())
    HEADRACE_TRY(normal_axis(in.attrs.index, in[0].dims.rank()).status());
  return in[0];
}

template <class T>
T combine(T a, T b, bool product) {
  if constexpr (std::is_integral_v<T>) {
    using wide = std::make_unsigned_t<T>; // wraps around
    return static_cast<T>(product ? uint64_t{static_cast<wide>(a)} * static_cast<wide>(b)
                                  : uint64_t{static_cast<wide>(a)} + static_cast<wide>(b));
  } else if constexpr (sizeof(T) == 2) {
    const auto x = static_cast<float>(a), y = static_cast<float>(b);
    return T{product ? x * y : x + y};
  } else {
    return product ? a * b : a + b;
  }
}

template <bool Product>
column run_running(const op_call& call) {
  const auto& attrs = call.node.attrs;
  return run_rows(call, [&](size_t r, const shape& dims, column_builder& out) -> status {
    const auto parts = layout_along(dims, *normal_axis(attrs.index, dims.rank()));
    auto* place = out.extend(static_cast<size_t>(*dims.elements()));
    visit_plain(call.node.spec.type, [&]<class T>(T) {
      if constexpr (!std::is_same_v<T, bool>) {
        const auto* from = row_values<T>(call.inputs[0], r).data();
        auto* to = reinterpret_cast<T*>(place);
        for (int64_t o = 0; o < parts.outer; ++o)
          for (int64_t i = 0; i < parts.inner; ++i) {
            const auto step = attrs.dims[0] != 0 ? -parts.inner : parts.inner;
            auto at = o * parts.extent * parts.inner + i;
            if (step < 0)
              at += (parts.extent - 1) * parts.inner;
            T sum = T(static_cast<T>(Product ? 1.0f : 0.0f));
            for (int64_t n = 0; n < parts.extent; ++n, at += step) {
              const T before = sum;
              sum = combine<T>(sum, from[at], Product);
              to[at] = attrs.flag ? before : sum;
            }
          }
      }
    });
    out.end_row(dims);
    return {};
  });
}

// -- matmul --------------------------------------------------------------------

result<tensor_spec> infer_matmul(const library_operands& in) {
  if (in[0].type != in[1].type)
    return invalid_argument(
      fmt::format("operands are {} and {}; cast one", to_string(in[0]), to_string(in[1])));
  if (kernels::find_matmul(in[0].type) == nullptr)
    return invalid_argument(fmt::format("operands are {}; float32, float64, int32 and int64 can be",
                                        to_string(in[0].type)));
  const auto &a = in[0].dims, &b = in[1].dims;
  for (const auto* x : {&a, &b})
    if (x->has_rank() && x->rank() < 2)
      return invalid_argument(
        fmt::format("an operand has shape {}; at least two axes are needed", to_string(*x)));
  if (!a.has_rank() || !b.has_rank())
    return tensor_spec{in[0].type, shape::unknown_rank()};
  const auto inner = a[a.rank() - 1], outer = b[b.rank() - 2];
  if (inner != outer && inner != shape::unknown && outer != shape::unknown)
    return invalid_argument(fmt::format("shapes {} and {} do not fit: {} columns and {} rows",
                                        to_string(a), to_string(b), inner, outer));
  auto all = broadcast(shape{a.dims().first(a.rank() - 2)}, shape{b.dims().first(b.rank() - 2)});
  if (!all)
    return invalid_argument(
      fmt::format("the leading extents of {} and {} do not broadcast", to_string(a), to_string(b)));
  std::vector<int64_t> dims{all->dims().begin(), all->dims().end()};
  dims.push_back(a[a.rank() - 2]);
  dims.push_back(b[b.rank() - 1]);
  return tensor_spec{in[0].type, shape{std::move(dims)}};
}

/// The index of the matrix that an operand with leading extents `own` contributes to matrix `i` of
/// a result with leading extents `all`.
int64_t matrix_of(int64_t i, std::span<const int64_t> all, std::span<const int64_t> own) {
  int64_t out = 0, step = 1;
  for (size_t axis = 0; axis < all.size(); ++axis) {
    const auto extent = all[all.size() - 1 - axis];
    const auto at = i % extent;
    i /= extent;
    if (axis < own.size()) {
      const auto mine = own[own.size() - 1 - axis];
      out += mine == 1 ? 0 : at * step;
      step *= mine;
    }
  }
  return out;
}

column run_matmul(const op_call& call) {
  const auto multiply = kernels::find_matmul(call.node.spec.type);
  const auto size = size_of(call.node.spec.type);
  return run_rows(call, [&](size_t r, const shape& dims, column_builder& out) -> status {
    const auto a = call.inputs[0].shape_of(r), b = call.inputs[1].shape_of(r);
    const auto m = a[a.rank() - 2], k = a[a.rank() - 1], n = b[b.rank() - 1];
    const auto all = dims.dims().first(dims.rank() - 2);
    auto* to = out.extend(static_cast<size_t>(*dims.elements()));
    const auto part = [&](size_t i, const shape& own, int64_t matrix, int64_t values) {
      const auto at = matrix_of(matrix, all, own.dims().first(own.rank() - 2)) * values;
      return call.inputs[i].data->value_buffer().data()
             + static_cast<size_t>(call.inputs[i].first_value(r) + at) * size;
    };
    const auto matrices = m * n == 0 ? 0 : *dims.elements() / (m * n);
    for (int64_t i = 0; i < matrices; ++i)
      multiply(to + static_cast<size_t>(i * m * n) * size, part(0, a, i, m * k),
               part(1, b, i, k * n), static_cast<size_t>(m), static_cast<size_t>(k),
               static_cast<size_t>(n));
    out.end_row(dims);
    return {};
  });
}

// -- slice_at ------------------------------------------------------------------

result<tensor_spec> infer_slice_at(const library_operands& in) {
  if (!is_integer(in[1].type))
    return invalid_argument(
      fmt::format("where to begin is {}; integers are needed", to_string(in[1])));
  const auto& sizes = in.attrs.dims;
  const auto rank = static_cast<int64_t>(sizes.size());
  for (auto n : sizes)
    if (n < -1)
      return invalid_argument(fmt::format("a size of {}; -1 takes the rest", n));
  if (in[1].dims.has_rank()
      && (in[1].dims.rank() != 1 || (in[1].dims[0] != rank && in[1].dims[0] != shape::unknown)))
    return invalid_argument(fmt::format("where to begin has shape {}; a vector of {} is needed",
                                        to_string(in[1].dims), rank));
  if (in.size() == 3
      && (!is_integer(in[2].type)
          || (in[2].dims.has_rank() && in[2].dims != in[1].dims && in[2].dims != shape{rank})))
    return invalid_argument(
      fmt::format("the sizes are {}; a vector of {} integers is needed", to_string(in[2]), rank));
  if (!in[0].dims.has_rank())
    return tensor_spec{in[0].type, shape{sizes}};
  if (in[0].dims.rank() != sizes.size())
    return invalid_argument(fmt::format("{} sizes for an input of shape {}; one an axis is needed",
                                        rank, to_string(in[0].dims)));
  for (size_t i = 0; i < sizes.size(); ++i)
    if (in[0].dims[i] != shape::unknown && sizes[i] > in[0].dims[i])
      return invalid_argument(
        fmt::format("size {} along axis {} of {}", sizes[i], i, to_string(in[0].dims)));
  return tensor_spec{in[0].type, shape{sizes}};
}

/// Appends the part of a row that starts at `begin` and has extents `dims`.
void append_part(column_builder& out, const operand& in, size_t r, const shape& row,
                 std::span<const int64_t> begin, const shape& dims) {
  const auto& data = *in.data;
  const auto rank = row.rank();
  const auto total = *dims.elements();
  if (total == 0)
    return;
  // The last axes that are taken whole, and the axis before them, form contiguous runs.
  size_t outer = rank;
  int64_t line = 1;
  while (outer > 0) {
    --outer;
    line *= dims[outer];
    if (dims[outer] != row[outer])
      break;
  }
  const auto size = data.is_string() ? 0 : size_of(data.type());
  auto* to = data.is_string() ? nullptr : out.extend(static_cast<size_t>(total));
  std::vector<int64_t> at(outer, 0);
  for (int64_t done = 0; done < total; done += line) {
    int64_t from = 0;
    for (size_t i = 0; i < rank; ++i) from = from * row[i] + begin[i] + (i < outer ? at[i] : 0);
    from += in.first_value(r);
    if (data.is_string()) {
      for (int64_t i = 0; i < line; ++i) out.add_string(data.string(static_cast<size_t>(from + i)));
    } else {
      std::memcpy(to + static_cast<size_t>(done) * size,
                  data.value_buffer().data() + static_cast<size_t>(from) * size,
                  static_cast<size_t>(line) * size);
    }
    for (auto axis = outer; axis-- > 0;) {
      if (++at[axis] < dims[axis])
        break;
      at[axis] = 0;
    }
  }
}

column run_slice_at(const op_call& call) {
  const auto& sizes = call.node.attrs.dims;
  return run_rows(call, [&](size_t r, const shape&, column_builder& out) -> status {
    const auto row = call.inputs[0].shape_of(r);
    std::vector<int64_t> begin, dims;
    for (size_t i = 0; i < sizes.size(); ++i) {
      begin.push_back(integer_at(call.inputs[1], r, i));
      const auto room = begin[i] < 0 || begin[i] > row[i] ? int64_t{-1} : row[i] - begin[i];
      const auto wanted = call.inputs.size() == 3 ? integer_at(call.inputs[2], r, i) : sizes[i];
      dims.push_back(wanted == -1 ? room : wanted);
      if (room < 0 || dims[i] < 0 || dims[i] > room)
        return invalid_argument(fmt::format("{} values from {} on along axis {} of {}", wanted,
                                            begin[i], i, to_string(row)));
    }
    const shape part{std::move(dims)};
    append_part(out, call.inputs[0], r, row, begin, part);
    out.end_row(part);
    return {};
  });
}

} // namespace

std::span<const library_function> numeric_functions() {
  static constexpr library_function functions[] = {
    {expr_op::cumsum, "cumsum", 1, 1, infer_running, run_running<false>},
    {expr_op::cumprod, "math.cumprod", 1, 1, infer_running, run_running<true>},
    {expr_op::matmul, "matmul", 2, 2, infer_matmul, run_matmul},
    {expr_op::slice_at, "slice", 2, 3, infer_slice_at, run_slice_at},
  };
  return functions;
}

} // namespace headrace::detail
