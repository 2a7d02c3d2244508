#include "headrace/pipeline/functions/sequences.hpp"

#include "headrace/pipeline/functions/literal.hpp"
#include "headrace/pipeline/functions/math.hpp"
#include "headrace/pipeline/functions/representation/expression_makers.hpp"
#include "headrace/pipeline/functions/representation/library.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

expr integer(const expr& x, std::string_view name) {
  if (!is_integer(x.type()))
    throw error{
      invalid_argument(fmt::format("{} is {}; integers are needed", name, to_string(x.spec())))};
  return cast<int64_t>(x);
}

} // namespace

expr range(const expr& start, const expr& limit, const expr& delta) {
  return apply(expr_op::number_range, same_type("range", {start, limit, delta}));
}

expr repeat(const expr& x, const expr& repeats, int64_t axis) {
  expr_attrs attrs;
  attrs.index = axis;
  return apply(expr_op::repeat_parts, {x.node(), repeats.node()}, std::move(attrs));
}

expr linspace(const expr& from, const expr& to, const expr& count, int64_t axis) {
  const auto ends = same_type("linspace", {from, to});
  const expr start{ends[0]}, stop{ends[1]};
  if (!is_floating(start.type()))
    throw error{invalid_argument(
      fmt::format("linspace: start is {}; floats are needed", to_string(start.spec())))};
  if (!start.dims().has_rank())
    throw error{invalid_argument("linspace: the rank of start must be known; see ensure_shape")};
  const auto rank = static_cast<int64_t>(start.dims().rank());
  if (axis < -rank - 1 || axis > rank)
    throw error{
      invalid_argument(fmt::format("linspace: axis {} is not one of {}", axis, rank + 1))};
  const auto at = axis < 0 ? axis + rank + 1 : axis;
  const auto n = integer(count, "linspace: the number of values");
  auto place = range(int64_t{0}, n, int64_t{1});
  if (const auto* known = constant_of(count.node()); known != nullptr && known->total_values() == 1)
    if (const auto values = integer_at({known}, 0); values >= 0)
      place = ensure_shape(place, {values});
  for (int64_t i = 0; i < at; ++i) place = expand_dims(place, 0);
  for (auto i = at; i < rank; ++i) place = expand_dims(place, -1);
  const auto steps = cast(maximum(n - int64_t{1}, int64_t{1}), start.type());
  const auto first = expand_dims(start, at), last = expand_dims(stop, at);
  const auto distance = (last - first) / steps;
  // The last value is exactly `stop`.
  return where((place == n - int64_t{1}) & (n > int64_t{1}), last,
               first + distance * cast(place, start.type()));
}

expr eye(const extent& rows, const extent& columns, dtype type) {
  const auto numbers = [](const extent& n) {
    if (!n.known())
      return range(int64_t{0}, integer(n.computed(), "eye: an extent"), int64_t{1});
    const auto all = range(int64_t{0}, *n.known(), int64_t{1});
    return *n.known() < 0 ? all : ensure_shape(all, {*n.known()});
  };
  return cast(expand_dims(numbers(rows), 1) == expand_dims(numbers(columns), 0), type);
}

expr sequence_mask(const expr& lengths, const std::optional<expr>& longest) {
  const auto n = integer(lengths, "sequence_mask: the lengths");
  // The 0 is the longest length if there are no lengths.
  const auto most =
    longest ? integer(*longest, "sequence_mask: the longest length")
            : reduce_max(concat({reshape(n, {-1}), constant(std::vector<int64_t>{0})}, 0));
  return range(int64_t{0}, maximum(most, int64_t{0}), int64_t{1}) < expand_dims(n, -1);
}

expr true_places(const expr& mask) { return apply(expr_op::true_places, {mask.node()}); }

expr slice_along(const expr& x, int64_t axis, const std::optional<expr>& start,
                 const std::optional<expr>& stop, int64_t step) {
  expr_attrs attrs;
  attrs.index = axis;
  attrs.slices = {{.step = step, .has_start = start.has_value(), .has_stop = stop.has_value()}};
  std::vector<expr_ptr> inputs{x.node()};
  if (start)
    inputs.push_back(start->node());
  if (stop)
    inputs.push_back(stop->node());
  return apply(expr_op::slice_along, std::move(inputs), std::move(attrs));
}

} // namespace headrace::detail
