#include "headrace/pipeline/functions/representation/movement_shapes.hpp"

#include "headrace/pipeline/functions/representation/shapes.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail::movement {

namespace {

constexpr int64_t unknown = shape::unknown;
/// The most values of a row. A row of more values would be a mistake, or an attack.
constexpr int64_t most_filled = int64_t{1} << 30;

} // namespace

result<shape> reshape(const expr_attrs& attrs, const shape& in) {
  std::optional<size_t> open;
  int64_t rest = 1;
  for (size_t i = 0; i < attrs.dims.size(); ++i) {
    const auto dim = attrs.dims[i];
    if (dim < -1)
      return invalid_argument(fmt::format("extent {} is negative; one may be -1", dim));
    if (dim == -1 && open)
      return invalid_argument("two extents are -1; at most one can be computed");
    if (dim == -1)
      open = i;
    else if (__builtin_mul_overflow(rest, dim, &rest))
      return invalid_argument(fmt::format("{} is too large", to_string(shape{attrs.dims})));
  }
  auto dims = attrs.dims;
  const auto n = in.elements();
  if (!n)
    return shape{std::move(dims)};
  if (open) {
    if (rest == 0 ? *n != 0 : *n % rest != 0)
      return invalid_argument(fmt::format("{} values of {} do not fill {}", *n, to_string(in),
                                          to_string(shape{attrs.dims})));
    dims[*open] = rest == 0 ? 0 : *n / rest;
  } else if (rest != *n) {
    return invalid_argument(fmt::format("{} values of {} do not fill {}", *n, to_string(in),
                                        to_string(shape{attrs.dims})));
  }
  return shape{std::move(dims)};
}

result<shape> stack(const expr_attrs& attrs, std::span<const shape> inputs) {
  auto all = inputs[0];
  for (const auto& in : inputs) {
    if (!in.has_rank() || !all.has_rank()) {
      all = all.has_rank() ? all : in;
      continue;
    }
    bool fits = in.rank() == all.rank();
    std::vector<int64_t> dims;
    for (size_t i = 0; fits && i < in.rank(); ++i) {
      fits = in[i] == all[i] || in[i] == unknown || all[i] == unknown;
      dims.push_back(all[i] == unknown ? in[i] : all[i]);
    }
    if (!fits)
      return invalid_argument(fmt::format("inputs are {} and {}; all must have one shape",
                                          to_string(all), to_string(in)));
    all = shape{std::move(dims)};
  }
  if (!all.has_rank())
    return all;
  HEADRACE_ASSIGN(const auto axis, normal_axis(attrs.index, all.rank() + 1));
  std::vector<int64_t> dims{all.dims().begin(), all.dims().end()};
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis),
              static_cast<int64_t>(inputs.size()));
  return shape{std::move(dims)};
}

result<shape> concat(const expr_attrs& attrs, std::span<const shape> inputs) {
  std::optional<std::vector<int64_t>> all;
  bool unranked = false;
  for (const auto& in : inputs) {
    if (!in.has_rank()) {
      unranked = true;
      continue;
    }
    HEADRACE_ASSIGN(const auto axis, normal_axis(attrs.index, in.rank()));
    if (!all) {
      all.emplace(in.dims().begin(), in.dims().end());
      continue;
    }
    bool fits = in.rank() == all->size();
    for (size_t i = 0; fits && i < in.rank(); ++i) {
      auto& dim = (*all)[i];
      if (i == axis) {
        if (dim == unknown || in[i] == unknown)
          dim = unknown;
        else if (__builtin_add_overflow(dim, in[i], &dim))
          return invalid_argument("the result is too large");
      } else {
        fits = dim == in[i] || dim == unknown || in[i] == unknown;
        dim = dim == unknown ? in[i] : dim;
      }
    }
    if (!fits)
      return invalid_argument(fmt::format("inputs are {} and {}; all extents but that of axis {} "
                                          "must be equal",
                                          to_string(inputs[0]), to_string(in), axis));
  }
  if (!all)
    return shape::unknown_rank();
  if (unranked)
    (*all)[*normal_axis(attrs.index, all->size())] = unknown;
  return shape{*std::move(all)};
}

result<shape> transpose(const expr_attrs& attrs, const shape& in) {
  std::vector<bool> seen(attrs.dims.size());
  for (auto axis : attrs.dims) {
    if (axis < 0 || axis >= static_cast<int64_t>(seen.size()) || seen[static_cast<size_t>(axis)])
      return invalid_argument(
        fmt::format("{} is no permutation of the axes", to_string(shape{attrs.dims})));
    seen[static_cast<size_t>(axis)] = true;
  }
  if (!in.has_rank())
    return shape{std::vector<int64_t>(attrs.dims.size(), unknown)};
  if (in.rank() != attrs.dims.size())
    return invalid_argument(fmt::format("a permutation of {} axes for an input of shape {}",
                                        attrs.dims.size(), to_string(in)));
  std::vector<int64_t> dims;
  for (auto axis : attrs.dims) dims.push_back(in[static_cast<size_t>(axis)]);
  return shape{std::move(dims)};
}

result<shape> expand_dims(const expr_attrs& attrs, const shape& in) {
  if (!in.has_rank())
    return in;
  HEADRACE_ASSIGN(const auto axis, normal_axis(attrs.index, in.rank() + 1));
  std::vector<int64_t> dims{in.dims().begin(), in.dims().end()};
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  return shape{std::move(dims)};
}

result<shape> squeeze(const expr_attrs& attrs, const shape& in) {
  // All rows must have one rank, so the axes that are removed must not depend on a row's extents.
  if (attrs.axes.empty() && !in.is_static())
    return invalid_argument(
      fmt::format("the extents of {} are not all known; name the axes that go", to_string(in)));
  if (!in.has_rank())
    return in;
  std::vector<int64_t> dims;
  if (attrs.axes.empty()) {
    for (auto dim : in.dims()) {
      if (dim != 1)
        dims.push_back(dim);
    }
    return shape{std::move(dims)};
  }
  HEADRACE_ASSIGN(const auto gone, reduced_axes(attrs.axes, in.rank()));
  for (size_t i = 0; i < in.rank(); ++i) {
    if (!gone[i])
      dims.push_back(in[i]);
    else if (in[i] != 1 && in[i] != unknown)
      return invalid_argument(
        fmt::format("axis {} of {} has extent {}, not 1", i, to_string(in), in[i]));
  }
  return shape{std::move(dims)};
}

result<shape> fill(const expr_attrs& attrs, const shape& in) {
  if (in.has_rank() && !in.is_scalar())
    return invalid_argument(
      fmt::format("the value has shape {}; a scalar is needed", to_string(in)));
  int64_t n = 1;
  for (auto dim : attrs.dims)
    if (dim < 0 || __builtin_mul_overflow(n, dim, &n) || n > most_filled)
      return invalid_argument(fmt::format("cannot fill shape {}: at most {} values",
                                          to_string(shape{attrs.dims}), most_filled));
  return shape{attrs.dims};
}

result<shape> tile(const expr_attrs& attrs, const shape& in) {
  for (auto times : attrs.dims)
    if (times < 0)
      return invalid_argument(fmt::format("{} times; none is less than 0", times));
  if (!in.has_rank())
    return shape{std::vector<int64_t>(attrs.dims.size(), unknown)};
  if (in.rank() != attrs.dims.size())
    return invalid_argument(fmt::format("{} numbers of times for an input of shape {}; one an axis",
                                        attrs.dims.size(), to_string(in)));
  std::vector<int64_t> dims;
  int64_t n = 1;
  for (size_t i = 0; i < in.rank(); ++i) {
    int64_t dim = unknown;
    const auto times = attrs.dims[i];
    if (in[i] != unknown
        && (__builtin_mul_overflow(in[i], times, &dim) || __builtin_mul_overflow(n, dim, &n)
            || n > most_filled))
      return invalid_argument(fmt::format("{} times {} is more than {} values",
                                          to_string(shape{attrs.dims}), to_string(in),
                                          most_filled));
    dims.push_back(dim);
  }
  return shape{std::move(dims)};
}

result<shape> pad(const expr_attrs& attrs, const shape& in, const shape& filler) {
  if (filler.has_rank() && !filler.is_scalar())
    return invalid_argument(
      fmt::format("the filler has shape {}; a scalar is needed", to_string(filler)));
  if (attrs.axes.size() % 2 != 0 || attrs.index < 0 || attrs.index > 2)
    return invalid_argument("paddings come in pairs, one an axis");
  for (auto width : attrs.axes)
    if (width < 0 || width > most_filled)
      return invalid_argument(
        fmt::format("a padding of {}; it must be in [0, {}]", width, most_filled));
  const auto rank = attrs.axes.size() / 2;
  if (!in.has_rank())
    return shape{std::vector<int64_t>(rank, unknown)};
  if (in.rank() != rank)
    return invalid_argument(fmt::format(
      "{} pairs of paddings for an input of shape {}; one an axis", rank, to_string(in)));
  std::vector<int64_t> dims;
  int64_t n = 1;
  for (size_t i = 0; i < rank; ++i) {
    const auto before = attrs.axes[2 * i], after = attrs.axes[2 * i + 1];
    if (in[i] == unknown) {
      dims.push_back(unknown);
      continue;
    }
    const auto most = attrs.index == 1 ? in[i] - 1 : in[i];
    if (attrs.index != 0 && std::max(before, after) > std::max<int64_t>(most, 0))
      return invalid_argument(fmt::format("axis {} of {} is mirrored by {} and {}; at most {} is "
                                          "there",
                                          i, to_string(in), before, after,
                                          std::max<int64_t>(most, 0)));
    dims.push_back(before + in[i] + after);
    if (__builtin_mul_overflow(n, dims.back(), &n) || n > most_filled)
      return invalid_argument(fmt::format("the result has more than {} values", most_filled));
  }
  return shape{std::move(dims)};
}

result<shape> roll(const expr_attrs& attrs, const shape& in) {
  if (attrs.dims.size() != attrs.axes.size())
    return invalid_argument(fmt::format("{} shifts along {} axes; one each is needed",
                                        attrs.dims.size(), attrs.axes.size()));
  if (in.has_rank())
    for (auto axis : attrs.axes) HEADRACE_TRY(normal_axis(axis, in.rank()).status());
  return in;
}

result<shape> gather(const expr_attrs& attrs, const shape& in, const shape& indices) {
  if (in.is_scalar())
    return invalid_argument("a scalar has no parts");
  if (!in.has_rank() || !indices.has_rank())
    return shape::unknown_rank();
  HEADRACE_ASSIGN(const auto axis, normal_axis(attrs.index, in.rank()));
  std::vector<int64_t> dims{in.dims().begin(),
                            in.dims().begin() + static_cast<std::ptrdiff_t>(axis)};
  dims.insert(dims.end(), indices.dims().begin(), indices.dims().end());
  dims.insert(dims.end(), in.dims().begin() + static_cast<std::ptrdiff_t>(axis) + 1,
              in.dims().end());
  return shape{std::move(dims)};
}

} // namespace headrace::detail::movement
