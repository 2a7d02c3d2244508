#include "headrace/pipeline/functions/representation/moves.hpp"

#include "headrace/pipeline/functions/representation/library.hpp"
#include "headrace/pipeline/functions/representation/shapes.hpp"

namespace headrace::detail {

bool keeps_order(expr_op op) noexcept {
  return op == expr_op::reshape || op == expr_op::expand_dims || op == expr_op::squeeze;
}

namespace {

void append(std::vector<move_run>& runs, const move_run& next) {
  if (next.count == 0)
    return;
  if (!runs.empty()) {
    auto& last = runs.back();
    const bool straight = last.step == 1 && (next.step == 1 || next.count == 1);
    if (straight && last.input == next.input && last.start + last.count == next.start) {
      last.count += next.count;
      return;
    }
  }
  runs.push_back(next);
}

/// Appends the runs for the values of a row in the order of `axes`, outermost axis first. The start
/// and step of each axis count values of the row.
void walk(std::vector<move_run>& runs, std::span<const axis_range> axes, int64_t base) {
  if (axes.empty())
    return append(runs, {0, base, 1, 1});
  if (axes.size() == 1)
    return append(runs, {0, base + axes[0].start, axes[0].step, axes[0].count});
  for (int64_t i = 0; i < axes[0].count; ++i)
    walk(runs, axes.subspan(1), base + axes[0].start + i * axes[0].step);
}

std::vector<int64_t> steps_of(const shape& row) {
  std::vector<int64_t> out(row.rank());
  int64_t step = 1;
  for (auto i = row.rank(); i-- > 0;) {
    out[i] = step;
    step *= row[i];
  }
  return out;
}

void plan_index_moves(std::vector<move_run>& runs, const std::vector<slice_spec>& parts,
                      const shape& row) {
  auto axes = plan_index(parts, row)->axes;
  const auto steps = steps_of(row);
  for (size_t i = 0; i < axes.size(); ++i) {
    axes[i].start *= steps[i];
    axes[i].step *= steps[i];
  }
  // An innermost axis that is taken whole is joined with the axis before it.
  while (axes.size() > 1 && axes.back().step == 1 && axes.back().start == 0
         && axes.back().count == row[axes.size() - 1]
         && axes[axes.size() - 2].step == axes.back().count) {
    auto inner = axes.back();
    axes.pop_back();
    axes.back() = {axes.back().start, 1, axes.back().count * inner.count};
    if (axes.back().start != 0)
      break;
  }
  for (const auto& axis : axes)
    if (axis.count == 0)
      return;
  walk(runs, axes, 0);
}

void plan_transpose(std::vector<move_run>& runs, const std::vector<int64_t>& permutation,
                    const shape& row) {
  const auto steps = steps_of(row);
  std::vector<axis_range> axes;
  for (auto axis : permutation) {
    const auto i = static_cast<size_t>(axis);
    axes.push_back({0, steps[i], row[i]});
    if (row[i] == 0)
      return;
  }
  walk(runs, axes, 0);
}

/// Plans `stack` and `concat`: for each place along the axes before `axis`, one run of each input
/// in turn.
void plan_joined(std::vector<move_run>& runs, std::span<const shape> inputs, size_t axis) {
  int64_t outer = 1;
  for (size_t i = 0; i < axis; ++i) outer *= inputs[0][i];
  if (std::ranges::all_of(inputs, [](const shape& x) { return *x.elements() == 0; }))
    return;
  for (int64_t o = 0; o < outer; ++o)
    for (size_t k = 0; k < inputs.size(); ++k) {
      const auto values = *inputs[k].elements() / outer;
      append(runs, {k, o * values, 1, values});
    }
}

/// Plans a result whose values come from the given `places` along each axis of the input; place -1
/// stands for the filler (input 1). Consecutive places of the last axis become one run.
void walk_places(std::vector<move_run>& runs, std::span<const std::vector<int64_t>> places,
                 std::span<const int64_t> steps, std::span<const int64_t> inner, int64_t base) {
  const auto& here = places[0];
  for (size_t i = 0; i < here.size();) {
    size_t n = 1;
    if (here[i] < 0) {
      while (i + n < here.size() && here[i + n] < 0) ++n;
      append(runs, {1, 0, 0, static_cast<int64_t>(n) * inner[0]});
    } else if (places.size() == 1) {
      while (i + n < here.size() && here[i + n] == here[i] + static_cast<int64_t>(n)) ++n;
      append(runs, {0, base + here[i], 1, static_cast<int64_t>(n)});
    } else {
      walk_places(runs, places.subspan(1), steps.subspan(1), inner.subspan(1),
                  base + here[i] * steps[0]);
    }
    i += n;
  }
}

/// The places along one axis of the input from which the result's values come; -1: the filler.
std::vector<int64_t> places_along(expr_op op, const expr_attrs& attrs, size_t axis, size_t rank,
                                  int64_t extent) {
  std::vector<int64_t> out;
  if (op == expr_op::tile) {
    for (int64_t t = 0; t < attrs.dims[axis]; ++t)
      for (int64_t i = 0; i < extent; ++i) out.push_back(i);
  } else if (op == expr_op::roll) {
    int64_t shift = 0;
    for (size_t k = 0; k < attrs.axes.size(); ++k)
      if (*normal_axis(attrs.axes[k], rank) == axis && extent > 0)
        shift = (shift + attrs.dims[k] % extent + extent) % extent;
    for (int64_t i = 0; i < extent; ++i) out.push_back((i - shift + extent) % extent);
  } else {
    const auto mirrored = [&](int64_t i) {
      const int64_t edge = attrs.index == 1 ? 0 : 1; // 1 if the border is repeated
      if (attrs.index == 0)
        return int64_t{-1};
      return i < 0 ? -i - edge : 2 * extent - i - 2 + edge;
    };
    for (auto i = -attrs.axes[2 * axis]; i < extent + attrs.axes[2 * axis + 1]; ++i)
      out.push_back(i >= 0 && i < extent ? i : mirrored(i));
  }
  return out;
}

void plan_places(std::vector<move_run>& runs, expr_op op, const expr_attrs& attrs, const shape& row,
                 const shape& result) {
  const auto rank = row.rank();
  if (rank == 0)
    return append(runs, {0, 0, 1, 1});
  if (*result.elements() == 0)
    return;
  std::vector<std::vector<int64_t>> places;
  for (size_t axis = 0; axis < rank; ++axis)
    places.push_back(places_along(op, attrs, axis, rank, row[axis]));
  walk_places(runs, places, steps_of(row), steps_of(result), 0);
}

} // namespace

result<move_plan> plan_moves(const expr_node& of, std::span<const shape> in) {
  HEADRACE_ASSIGN(auto dims, result_shape(of, in));
  const auto op = of.op;
  const auto& attrs = of.attrs;
  move_plan out;
  const auto values = *dims.elements();
  switch (op) {
  case expr_op::index: plan_index_moves(out.runs, attrs.slices, in[0]); break;
  case expr_op::transpose: plan_transpose(out.runs, attrs.dims, in[0]); break;
  case expr_op::stack:
    plan_joined(out.runs, in, *normal_axis(attrs.index, in[0].rank() + 1));
    break;
  case expr_op::concat: plan_joined(out.runs, in, *normal_axis(attrs.index, in[0].rank())); break;
  case expr_op::tile:
  case expr_op::pad:
  case expr_op::roll: plan_places(out.runs, op, attrs, in[0], dims); break;
  case expr_op::fill: append(out.runs, {0, 0, 0, values}); break;
  default: append(out.runs, {0, 0, 1, values}); break;
  }
  out.dims = std::move(dims);
  return out;
}

} // namespace headrace::detail
