#include "headrace/pipeline/functions/operations/ops.hpp"
#include "headrace/pipeline/functions/representation/computed_extents.hpp"
#include "headrace/pipeline/functions/representation/movement_shapes.hpp"
#include "headrace/pipeline/functions/representation/shapes.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <cstring>

// Functions whose result has extents that depend on values: each row has a shape of its own.
namespace headrace::detail {

namespace {

/// The most values of a row, and the most bytes of its strings. More would be a mistake, or an
/// attack.
constexpr int64_t most_values = int64_t{1} << 30;

/// Evaluates row by row: `body(r, out)` appends row `r` to the `column_builder` and returns its
/// shape, or fails without having appended anything. `rank`: the rank of all rows of the result.
template <class Body>
column run_shaped_rows(const op_call& call, size_t rank, Body&& body) {
  const auto nothing = shape_of_nothing(call.node.spec, rank);
  column_builder out{call.node.spec.type, call.rows};
  // Operands whose ranks were not known when the node was made are checked in each row.
  const bool checked =
    std::ranges::all_of(call.node.inputs, [](const auto& x) { return x->spec.dims.has_rank(); });
  row_specs specs{call};
  for (size_t r = 0; r < call.rows; ++r) {
    if (call.skips(r)) {
      out.end_row_of_nothing(nothing);
      continue;
    }
    const auto fits = checked ? result<shape>{shape{}} : specs.at(r);
    const result<shape> dims = fits ? body(r, out) : fits;
    const auto how = dims ? check_bounded(*dims) : dims.status();
    if (how.ok()) {
      out.end_row(*dims);
    } else {
      call.fail(r, how);
      out.end_row_of_nothing(nothing);
    }
  }
  return std::move(out).finish();
}

/// The number of values of a shape; an error for negative extents and for too many values.
result<int64_t> values_in(std::span<const int64_t> dims) {
  for (auto dim : dims)
    if (dim < 0)
      return invalid_argument(fmt::format("an extent is {}; it must be 0 or more", dim));
  if (std::ranges::find(dims, 0) != dims.end()) {
    if (!shape::are_bounded(dims))
      return check_bounded(shape{dims});
    return 0;
  }
  int64_t n = 1;
  for (auto dim : dims)
    if (__builtin_mul_overflow(n, dim, &n) || n > most_values)
      return invalid_argument(
        fmt::format("{} has more than {} values",
                    to_string(shape{std::vector<int64_t>(dims.begin(), dims.end())}), most_values));
  return n;
}

status too_much_text() {
  return invalid_argument(fmt::format("its strings have more than {} bytes", most_values));
}

/// The bytes of `n` strings from number `first` on.
int64_t text_bytes(const column& of, int64_t first, int64_t n) {
  int64_t out = 0;
  for (auto i = first; i < first + n; ++i)
    out += static_cast<int64_t>(of.string(static_cast<size_t>(i)).size());
  return out;
}

/// Ok if the strings of row `r`, repeated until there are `n` strings, have at most `most_values`
/// bytes.
status check_text(const operand& in, size_t r, int64_t n) {
  if (!in.data->is_string() || n == 0)
    return {};
  const auto row = in.row(r);
  const auto first = in.data->first_value(row), last = in.data->first_value(row + 1);
  const auto bytes = text_bytes(*in.data, first, last - first);
  const auto times = n / std::max<int64_t>(last - first, 1);
  return bytes == 0 || times <= most_values / bytes ? status{} : too_much_text();
}

// -- fill ---------------------------------------------------------------------------------

result<tensor_spec> infer_fill(const library_operands& in) {
  HEADRACE_TRY(check_extents(in, 1));
  if (in[0].dims.has_rank() && !in[0].dims.is_scalar())
    return invalid_argument(
      fmt::format("the value has shape {}; a scalar is needed", to_string(in[0].dims)));
  for (auto dim : in.attrs.dims)
    if (dim < 0 && dim != computed_extent)
      return invalid_argument(fmt::format("an extent is {}; it must be 0 or more", dim));
  return tensor_spec{in[0].type, known_extents(in.attrs)};
}

column run_fill(const op_call& call) {
  const auto& value = call.inputs[0];
  return run_shaped_rows(
    call, call.node.attrs.dims.size(), [&](size_t r, column_builder& out) -> result<shape> {
      auto dims = extents_in_row(call, r, 1);
      HEADRACE_ASSIGN(const auto n, values_in(dims));
      HEADRACE_TRY(check_text(value, r, n));
      const auto at = value.first_value(r);
      if (value.data->is_string()) {
        for (int64_t i = 0; i < n; ++i) append_values(out, *value.data, at, 1);
      } else if (n != 0) {
        const auto size = size_of(value.data->type());
        const auto* from = value.data->value_buffer().data() + static_cast<size_t>(at) * size;
        auto* to = out.extend(static_cast<size_t>(n));
        // The filled part is copied behind itself, and so doubled, until all values are filled.
        const auto bytes = static_cast<size_t>(n) * size;
        std::memcpy(to, from, size);
        for (auto done = size; done < bytes; done *= 2)
          std::memcpy(to + done, to, std::min(done, bytes - done));
      }
      return shape{std::move(dims)};
    });
}

// -- tile ---------------------------------------------------------------------------------

result<tensor_spec> infer_tile(const library_operands& in) {
  HEADRACE_TRY(check_extents(in, 1));
  const auto& dims = in[0].dims;
  const auto& multiples = in.attrs.dims;
  if (dims.has_rank() && dims.rank() != multiples.size())
    return invalid_argument(
      fmt::format("{} multiples for shape {}", multiples.size(), to_string(dims)));
  std::vector<int64_t> out;
  for (size_t i = 0; i < multiples.size(); ++i) {
    const auto m = multiples[i];
    if (m < 0 && m != computed_extent)
      return invalid_argument(fmt::format("multiple {} is negative", m));
    int64_t extent = shape::unknown;
    if (dims.has_rank() && dims[i] != shape::unknown && m != computed_extent
        && __builtin_mul_overflow(dims[i], m, &extent))
      return invalid_argument("the result is too large");
    out.push_back(extent);
  }
  return tensor_spec{in[0].type, shape{std::move(out)}};
}

/// Repeats the part of a row that begins at value `first` and has the extents `dims`, along each of
/// its axes as often as `multiples` states, and appends the result.
void append_tiled(column_builder& out, const column& from, std::span<const int64_t> dims,
                  std::span<const int64_t> multiples, std::span<const int64_t> strides,
                  int64_t first) {
  if (dims.empty())
    return append_values(out, from, first, 1);
  // If nothing is repeated along the inner axes, each repetition is one run.
  if (std::ranges::all_of(multiples.subspan(1), [](auto m) { return m == 1; })) {
    for (int64_t m = 0; m < multiples[0]; ++m)
      append_values(out, from, first, dims[0] * strides[0]);
    return;
  }
  for (int64_t m = 0; m < multiples[0]; ++m)
    for (int64_t i = 0; i < dims[0]; ++i)
      append_tiled(out, from, dims.subspan(1), multiples.subspan(1), strides.subspan(1),
                   first + i * strides[0]);
}

column run_tile(const op_call& call) {
  const auto& in = call.inputs[0];
  return run_shaped_rows(
    call, call.node.attrs.dims.size(), [&](size_t r, column_builder& out) -> result<shape> {
      const auto multiples = extents_in_row(call, r, 1);
      const auto row = in.shape_of(r);
      if (row.rank() != multiples.size())
        return invalid_argument(
          fmt::format("{} multiples for shape {}", multiples.size(), to_string(row)));
      std::vector<int64_t> dims, strides(row.rank());
      for (size_t i = 0; i < row.rank(); ++i) {
        if (multiples[i] < 0)
          return invalid_argument(fmt::format("multiple {} is negative", multiples[i]));
        int64_t extent = 0;
        if (__builtin_mul_overflow(row[i], multiples[i], &extent))
          return invalid_argument("the result is too large");
        dims.push_back(extent);
      }
      int64_t inner = 1;
      for (size_t i = row.rank(); i-- > 0; inner *= row[i]) strides[i] = inner;
      HEADRACE_ASSIGN(const auto n, values_in(dims));
      HEADRACE_TRY(check_text(in, r, n));
      if (n != 0)
        append_tiled(out, *in.data, row.dims(), multiples, strides, in.first_value(r));
      return shape{std::move(dims)};
    });
}

// -- reshape --------------------------------------------------------------------------------

result<tensor_spec> infer_reshape(const library_operands& in) {
  HEADRACE_TRY(check_extents(in, 1));
  for (auto dim : in.attrs.dims)
    if (dim < -1 && dim != computed_extent)
      return invalid_argument(fmt::format("extent {} is negative; one may be -1", dim));
  if (std::ranges::count(in.attrs.dims, -1) > 1)
    return invalid_argument("two extents are -1; at most one can be computed");
  auto dims = in.attrs.dims;
  for (auto& dim : dims) dim = dim < 0 ? shape::unknown : dim;
  return tensor_spec{in[0].type, shape{std::move(dims)}};
}

column run_reshape(const op_call& call) {
  const auto& in = call.inputs[0];
  return run_shaped_rows(
    call, call.node.attrs.dims.size(), [&](size_t r, column_builder& out) -> result<shape> {
      expr_attrs attrs;
      attrs.dims = extents_in_row(call, r, 1);
      HEADRACE_ASSIGN(auto dims, movement::reshape(attrs, in.shape_of(r)));
      const auto row = in.row(r);
      const auto first = in.data->first_value(row);
      append_values(out, *in.data, first, in.data->first_value(row + 1) - first);
      return dims;
    });
}

// -- range ----------------------------------------------------------------------------------

result<tensor_spec> infer_range(const library_operands& in) {
  const auto type = in[0].type;
  for (size_t i = 0; i < 3; ++i) {
    if (in[i].type != type)
      return invalid_argument(
        fmt::format("the operands are {} and {}; cast one", to_string(in[0]), to_string(in[i])));
    if (in[i].dims.has_rank() && !in[i].dims.is_scalar())
      return invalid_argument(
        fmt::format("an operand is {}; a scalar is needed", to_string(in[i])));
  }
  if (!is_integer(type) && !is_floating(type))
    return invalid_argument(
      fmt::format("the operands are {}; integers or floats are needed", to_string(type)));
  return tensor_spec{type, {shape::unknown}};
}

template <class T>
result<int64_t> count_in_range(T start, T limit, T delta) {
  const auto text = [](T x) {
    return fmt::format("{}",
                       static_cast<std::conditional_t<std::is_integral_v<T>, int64_t, double>>(x));
  };
  if (delta == T{})
    return invalid_argument("delta is 0; it must be another number");
  if constexpr (is_floating(dtype_of<T>)) {
    // As in TensorFlow, the number of values is computed in the dtype of the operands.
    using wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const auto distance = static_cast<T>(static_cast<wide>(limit) - static_cast<wide>(start));
    const auto steps = std::ceil(
      static_cast<double>(static_cast<T>(static_cast<wide>(distance) / static_cast<wide>(delta))));
    if (!(steps >= 0))
      return invalid_argument(
        fmt::format("{} in steps of {} never comes to {}", text(start), text(delta), text(limit)));
    if (!(steps <= static_cast<double>(most_values)))
      return invalid_argument(fmt::format("it has more than {} values", most_values));
    return static_cast<int64_t>(steps);
  } else {
    const bool up = delta > T{};
    if (up ? start > limit : start < limit)
      return invalid_argument(
        fmt::format("{} in steps of {} never comes to {}", text(start), text(delta), text(limit)));
    // The distance is unsigned, because uint64 holds the distance of any two int64.
    const auto distance = up ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                             : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
    const auto step =
      up ? static_cast<uint64_t>(delta) : uint64_t{0} - static_cast<uint64_t>(delta);
    const auto n = distance / step + (distance % step != 0);
    if (n > static_cast<uint64_t>(most_values))
      return invalid_argument(fmt::format("it has more than {} values", most_values));
    return static_cast<int64_t>(n);
  }
}

column run_range(const op_call& call) {
  return run_shaped_rows(call, 1, [&](size_t r, column_builder& out) -> result<shape> {
    return visit_plain(call.node.spec.type, [&]<class T>(T) -> result<shape> {
      if constexpr (is_complex(dtype_of<T>) || dtype_of<T> == dtype::boolean) {
        return internal_error("range of no numbers");
      } else {
        const auto start = row_values<T>(call.inputs[0], r)[0];
        const auto delta = row_values<T>(call.inputs[2], r)[0];
        HEADRACE_ASSIGN(const auto n,
                        count_in_range(start, row_values<T>(call.inputs[1], r)[0], delta));
        auto* to = out.extend(static_cast<size_t>(n));
        for (int64_t i = 0; i < n; ++i) {
          T x;
          if constexpr (std::is_integral_v<T>)
            x = static_cast<T>(static_cast<uint64_t>(start)
                               + static_cast<uint64_t>(i) * static_cast<uint64_t>(delta));
          else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
            x = start + static_cast<T>(i) * delta;
          else // 16-bit floats are computed in float32
            x = static_cast<T>(static_cast<float>(start)
                               + static_cast<float>(i) * static_cast<float>(delta));
          std::memcpy(to + static_cast<size_t>(i) * sizeof x, &x, sizeof x);
        }
        return shape{n};
      }
    });
  });
}

// -- repeat -----------------------------------------------------------------------------------

result<tensor_spec> infer_repeat(const library_operands& in) {
  if (!is_integer(in[1].type) || (in[1].dims.has_rank() && in[1].dims.rank() > 1))
    return invalid_argument(
      fmt::format("repeats are {}; an integer or a vector of them is needed", to_string(in[1])));
  if (!in[0].dims.has_rank())
    return tensor_spec{in[0].type, shape::unknown_rank()};
  if (in[0].dims.is_scalar())
    return invalid_argument("a scalar has no axis to repeat along");
  HEADRACE_ASSIGN(const auto axis, normal_axis(in.attrs.index, in[0].dims.rank()));
  std::vector<int64_t> dims{in[0].dims.dims().begin(), in[0].dims.dims().end()};
  const auto& times = in[1].dims;
  if (times.has_rank() && times.rank() == 1 && times[0] != shape::unknown && times[0] != 1
      && dims[axis] != shape::unknown && times[0] != dims[axis])
    return invalid_argument(fmt::format("there are {} repeats for {} parts", times[0], dims[axis]));
  dims[axis] = shape::unknown;
  return tensor_spec{in[0].type, shape{std::move(dims)}};
}

column run_repeat(const op_call& call) {
  const auto& in = call.inputs[0];
  const auto& repeats = call.inputs[1];
  return run_shaped_rows(
    call, in.data->rank(), [&](size_t r, column_builder& out) -> result<shape> {
      const auto row = in.shape_of(r);
      if (row.is_scalar())
        return invalid_argument("a scalar has no axis to repeat along");
      HEADRACE_ASSIGN(const auto axis, normal_axis(call.node.attrs.index, row.rank()));
      const auto parts = layout_along(row, axis);
      const auto given = *repeats.shape_of(r).elements();
      if (given != 1 && given != parts.extent)
        return invalid_argument(
          fmt::format("there are {} repeats for {} parts", given, parts.extent));
      const auto times = [&](int64_t i) {
        return integer_at(repeats, r, given == 1 ? 0 : static_cast<size_t>(i));
      };
      int64_t extent = 0;
      for (int64_t i = 0; i < parts.extent; ++i) {
        if (times(i) < 0)
          return invalid_argument(
            fmt::format("a number of repeats is {}; it must be 0 or more", times(i)));
        if (__builtin_add_overflow(extent, times(i), &extent))
          return invalid_argument("the result is too large");
      }
      std::vector<int64_t> dims{row.dims().begin(), row.dims().end()};
      dims[axis] = extent;
      HEADRACE_ASSIGN(const auto n, values_in(dims));
      const auto first_of = [&](int64_t o, int64_t i) {
        return in.first_value(r) + (o * parts.extent + i) * parts.inner;
      };
      int64_t bytes = 0;
      if (n != 0 && in.data->is_string())
        for (int64_t o = 0; o < parts.outer; ++o)
          for (int64_t i = 0; i < parts.extent; ++i) {
            int64_t more = text_bytes(*in.data, first_of(o, i), parts.inner);
            if (__builtin_mul_overflow(more, times(i), &more)
                || __builtin_add_overflow(bytes, more, &bytes) || bytes > most_values)
              return too_much_text();
          }
      if (n != 0)
        for (int64_t o = 0; o < parts.outer; ++o)
          for (int64_t i = 0; i < parts.extent; ++i)
            for (int64_t k = 0; k < times(i); ++k)
              append_values(out, *in.data, first_of(o, i), parts.inner);
      return shape{std::move(dims)};
    });
}

// -- slice ------------------------------------------------------------------------------------

result<tensor_spec> infer_slice_along(const library_operands& in) {
  if (in.attrs.slices.size() != 1 || in.attrs.slices[0].what != slice_spec::kind::range)
    return invalid_argument("one slice is needed");
  const auto& part = in.attrs.slices[0];
  if (part.step == 0)
    return invalid_argument("a slice's step is 0");
  if (in.size() != size_t{1} + part.has_start + part.has_stop)
    return invalid_argument("each bound that the slice has must be given");
  for (size_t i = 1; i < in.size(); ++i)
    if (!is_integer(in[i].type) || (in[i].dims.has_rank() && !in[i].dims.is_scalar()))
      return invalid_argument(
        fmt::format("a slice's bound is {}; an integer scalar is needed", to_string(in[i])));
  if (!in[0].dims.has_rank())
    return tensor_spec{in[0].type, shape::unknown_rank()};
  if (in[0].dims.is_scalar())
    return invalid_argument("a scalar has no axis to slice along");
  HEADRACE_ASSIGN(const auto axis, normal_axis(in.attrs.index, in[0].dims.rank()));
  std::vector<int64_t> dims{in[0].dims.dims().begin(), in[0].dims.dims().end()};
  dims[axis] = shape::unknown;
  return tensor_spec{in[0].type, shape{std::move(dims)}};
}

/// Converts a bound of a slice, which counts from the end if it is negative, to an index from the
/// beginning of the axis. The index is limited to [0, extent], or to [-1, extent - 1] if the slice
/// runs backwards.
int64_t normal_bound(int64_t bound, int64_t extent, bool backwards) {
  const int64_t first = backwards ? -1 : 0, last = backwards ? extent - 1 : extent;
  if (bound < 0)
    return bound < -extent ? first : bound + extent;
  return std::min(bound, last);
}

column run_slice_along(const op_call& call) {
  const auto& in = call.inputs[0];
  const auto& part = call.node.attrs.slices[0];
  return run_shaped_rows(
    call, in.data->rank(), [&](size_t r, column_builder& out) -> result<shape> {
      const auto row = in.shape_of(r);
      if (row.is_scalar())
        return invalid_argument("a scalar has no axis to slice along");
      HEADRACE_ASSIGN(const auto axis, normal_axis(call.node.attrs.index, row.rank()));
      const auto parts = layout_along(row, axis);
      const bool back = part.step < 0;
      const auto bound = [&](size_t i) {
        return normal_bound(integer_at(call.inputs[i], r), parts.extent, back);
      };
      const auto start = part.has_start ? bound(1) : back ? parts.extent - 1 : 0;
      const auto stop = part.has_stop ? bound(part.has_start ? 2 : 1) : back ? -1 : parts.extent;
      const auto distance = back ? start - stop : stop - start;
      const auto stride = back ? -std::max(part.step, -INT64_MAX) : part.step;
      const auto count = distance <= 0 ? 0 : (distance - 1) / stride + 1;
      for (int64_t o = 0; o < parts.outer; ++o) {
        const auto base = in.first_value(r) + o * parts.extent * parts.inner;
        if (part.step == 1)
          append_values(out, *in.data, base + start * parts.inner, count * parts.inner);
        else
          for (int64_t k = 0; k < count; ++k)
            append_values(out, *in.data, base + (start + k * part.step) * parts.inner, parts.inner);
      }
      std::vector<int64_t> dims{row.dims().begin(), row.dims().end()};
      dims[axis] = count;
      return shape{std::move(dims)};
    });
}

// -- places of true values -----------------------------------------------------------------------

result<tensor_spec> infer_true_places(const library_operands& in) {
  const auto& mask = in[0];
  if (mask.type != dtype::boolean)
    return invalid_argument(fmt::format("it is given {}; bools are needed", to_string(mask)));
  if (mask.dims.has_rank() && mask.dims.is_scalar())
    return invalid_argument("a scalar has no places");
  return tensor_spec{dtype::int64,
                     {shape::unknown, mask.dims.has_rank() ? static_cast<int64_t>(mask.dims.rank())
                                                           : shape::unknown}};
}

column run_true_places(const op_call& call) {
  const auto& in = call.inputs[0];
  return run_shaped_rows(call, 2, [&](size_t r, column_builder& out) -> result<shape> {
    const auto row = in.shape_of(r);
    if (row.is_scalar())
      return invalid_argument("a scalar has no places");
    const auto mask = row_values<bool>(in, r);
    const auto axes = row.rank();
    std::vector<int64_t> found;
    for (size_t i = 0; i < mask.size(); ++i) {
      if (!mask[i])
        continue;
      found.resize(found.size() + axes);
      auto rest = static_cast<int64_t>(i);
      for (size_t axis = axes; axis-- > 0; rest /= row[axis])
        found[found.size() - axes + axis] = rest % row[axis];
    }
    if (!found.empty())
      std::memcpy(out.extend(found.size()), found.data(), found.size() * sizeof(int64_t));
    return shape{static_cast<int64_t>(found.size() / axes), static_cast<int64_t>(axes)};
  });
}

} // namespace

std::span<const library_function> extent_functions() {
  static constexpr auto any = SIZE_MAX;
  static constexpr library_function functions[] = {
    {expr_op::number_range, "range", 3, 3, infer_range, run_range},
    {expr_op::fill_computed, "fill", 1, any, infer_fill, run_fill},
    {expr_op::tile_computed, "tile", 1, any, infer_tile, run_tile},
    {expr_op::reshape_computed, "reshape", 1, any, infer_reshape, run_reshape},
    {expr_op::repeat_parts, "repeat", 2, 2, infer_repeat, run_repeat},
    {expr_op::slice_along, "slice", 1, 3, infer_slice_along, run_slice_along},
    {expr_op::true_places, "where", 1, 1, infer_true_places, run_true_places},
  };
  return functions;
}

} // namespace headrace::detail
