#include "tests/pipeline/random/groups.hpp"

#include "headrace/pipeline/functions/math.hpp"

#include <algorithm>
#include <map>

namespace headrace::detail::test::random {

namespace {

constexpr int64_t fill = -7;

dataset_ptr mapped(const dataset_ptr& in, function_ptr f) {
  return make_map(in, std::move(f)).value();
}

void append(elements& to, const elements& more) { to.insert(to.end(), more.begin(), more.end()); }

/// The numbers of up to `count` rows, `first`, `first + stride` ..., as one element. The element
/// failed if one of these rows failed.
element_value joined(const elements& in, size_t first, size_t count, size_t stride = 1) {
  element_value out{false, true, {}};
  for (size_t i = first; i < in.size() && count != 0; i += stride, --count) {
    out.failed = out.failed || in[i].failed;
    out.numbers.insert(out.numbers.end(), in[i].numbers.begin(), in[i].numbers.end());
  }
  return out;
}

function_ptr adding() {
  const tensor_spec x{dtype::int64, {}};
  return std::make_shared<const function>(
    trace(element_spec::tuple({x, x}), [](expr sum, expr more) { return sum + more; }));
}

dataset_ptr sum_of(const dataset_ptr& in) {
  return make_reduce(in, {scalar_constant(5)}, adding()).value();
}

element_value sum_of(const element_value& row) {
  if (row.failed)
    return failure();
  int64_t sum = 5;
  for (auto x : row.numbers) sum += x;
  return number(sum);
}

sample window(dice& die, const sample& in) {
  const auto size = static_cast<size_t>(die.between(1, 5)),
             shift = static_cast<size_t>(die.between(1, 7)),
             stride = static_cast<size_t>(die.between(1, 3));
  const bool drop = die.toss();
  auto windows = make_window(in.graph, static_cast<int64_t>(size), static_cast<int64_t>(shift),
                             static_cast<int64_t>(stride), drop)
                   .value();
  elements rows;
  for (size_t i = 0; i < in.want.size(); i += shift)
    if (!drop || i + (size - 1) * stride < in.want.size())
      rows.push_back(joined(in.want, i, size, stride));
  switch (die.below(5)) {
  case 0:
    return flat(rows,
                make_flat_map(windows, traced(windows, [](dataset_ptr w) { return w; })).value());
  case 1: {
    const auto stack = [](dataset_ptr w) { return make_unbatch(make_batch(w, 7).value()).value(); };
    return flat(rows, make_interleave(windows, traced(windows, stack), 1).value());
  }
  case 2: { // windows of windows
    auto outer = make_window(windows, 2, 2).value();
    auto inner = [](dataset_ptr w) {
      return make_flat_map(w, traced(w, [](dataset_ptr x) { return x; })).value();
    };
    elements pairs;
    for (size_t i = 0; i < rows.size(); i += 2) pairs.push_back(joined(rows, i, 2));
    return flat(pairs, make_flat_map(outer, traced(outer, inner)).value());
  }
  case 3: { // windows that pass through operators which do not read them
    auto moved = make_skip(make_prefetch(make_enumerate(windows).value(), 2).value(), 1).value();
    auto f = traced(moved, [](expr, dataset_ptr w) { return w; });
    if (!rows.empty())
      rows.erase(rows.begin());
    return flat(rows, make_flat_map(moved, f).value());
  }
  default: {
    sample out{
      make_flat_map(windows, traced(windows, [](dataset_ptr w) { return sum_of(w); })).value(), {}};
    for (const auto& row : rows) out.want.push_back(sum_of(row));
    return out;
  }
  }
}

sample group_by_window(dice& die, const sample& in) {
  const auto keys = die.between(1, 4), size = die.between(1, 5);
  const bool by_key = die.toss();
  auto key = traced(in.graph, [keys](expr x) { return floor_mod(x, keys); });
  const auto argument = grouped_spec(in.graph->spec);
  auto reduce = std::make_shared<const function>(trace(argument, [](expr k, dataset_ptr rows) {
    return make_map(rows, traced(rows, [k](expr x) { return x * 10 + k; })).value();
  }));
  auto sizes = std::make_shared<const function>(
    trace(tensor_spec{dtype::int64, {}}, [](expr k) { return k + 1; }));
  sample out{by_key ? make_group_by_window(in.graph, key, reduce, sizes).value()
                    : make_group_by_window(in.graph, key, reduce, size).value(),
             {}};
  std::map<int64_t, elements> open;
  for (const auto& x : in.want) {
    if (x.failed) {
      out.want.push_back(x);
      continue;
    }
    const auto k = modulo(x.numbers[0], keys);
    open[k].push_back(number(x.numbers[0] * 10 + k));
    if (static_cast<int64_t>(open[k].size()) == (by_key ? k + 1 : size)) {
      append(out.want, open[k]);
      open.erase(k);
    }
  }
  for (const auto& [k, rows] : open) append(out.want, rows);
  return out;
}

/// Maps each number x to the vector x, x + 1 ..., of length x modulo 5.
dataset_ptr vectors(const dataset_ptr& in) {
  return mapped(in, traced(in, [](expr x) {
                  return slice(constant(std::vector<int64_t>{0, 1, 2, 3}) + x,
                               constant(std::vector<int64_t>{0}), reshape(floor_mod(x, 5), {1}));
                }));
}
element_value vector_of(const element_value& x) {
  if (x.failed)
    return x;
  element_value out{false, true, {}};
  for (int64_t i = 0; i < modulo(x.numbers[0], 5); ++i) out.numbers.push_back(x.numbers[0] + i);
  return out;
}

/// One element with the numbers of all rows. Each row is filled up to the length of the longest
/// row, and at least to `length`.
element_value padded(const elements& rows, size_t length = 0) {
  element_value out{false, true, {}};
  for (const auto& row : rows) {
    out.failed = out.failed || row.failed;
    length = std::max(length, row.numbers.size());
  }
  for (const auto& row : rows) {
    auto numbers = row.numbers;
    numbers.resize(length, fill);
    out.numbers.insert(out.numbers.end(), numbers.begin(), numbers.end());
  }
  return out;
}

dataset_ptr unbatch_twice(const dataset_ptr& in) {
  return make_unbatch(make_unbatch(in).value()).value();
}
std::vector<std::optional<column>> fill_values() {
  return {column::of_scalars(std::span<const int64_t>{&fill, 1})};
}

sample padded_batch(dice& die, const sample& in) {
  const auto n = static_cast<size_t>(die.between(1, 6));
  const bool drop = die.toss(), ragged_ones = die.toss();
  const auto length = static_cast<size_t>(ragged_ones || die.toss() ? 0 : 5);
  elements rows;
  for (size_t i = 0; i < in.want.size(); i += n) {
    elements batch;
    for (auto j = i; j < std::min(in.want.size(), i + n); ++j)
      batch.push_back(vector_of(in.want[j]));
    if (!drop || batch.size() == n)
      rows.push_back(padded(batch, length));
  }
  const auto size = static_cast<int64_t>(n);
  auto many = vectors(in.graph);
  if (ragged_ones) {
    auto ragged_rows = make_ragged_batch(many, size, drop).value();
    auto dense = traced(ragged_rows, [](ragged r) { return r.to_tensor(expr{fill}); });
    return flat(rows, unbatch_twice(mapped(ragged_rows, dense)));
  }
  std::vector<shape> shapes;
  if (length != 0)
    shapes = {shape{5}};
  return flat(rows,
              unbatch_twice(make_padded_batch(many, size, shapes, fill_values(), drop).value()));
}

sample buckets(dice& die, const sample& in) {
  bucket_format format{.boundaries = {2, 4},
                       .batch_sizes = {die.between(1, 4), die.between(1, 4), die.between(1, 4)},
                       .padded_shapes = {},
                       .padding_values = fill_values()};
  format.pad_to_boundary = die.toss();
  format.drop_remainder = die.toss();
  auto many = vectors(in.graph);
  auto length = traced(many, [](expr x) { return size(x); });
  std::map<size_t, elements> open;
  elements rows;
  const auto close = [&](size_t bucket) {
    const auto to = format.pad_to_boundary ? format.boundaries[bucket] - 1 : 0;
    rows.push_back(padded(open[bucket], static_cast<size_t>(to)));
    open.erase(bucket);
  };
  for (const auto& x : in.want) {
    const auto row = vector_of(x);
    const auto n = row.numbers.size();
    if (row.failed || (format.pad_to_boundary && n >= 4)) {
      rows.push_back(failure());
      continue;
    }
    const auto bucket = static_cast<size_t>(n >= 2) + static_cast<size_t>(n >= 4);
    open[bucket].push_back(row);
    if (static_cast<int64_t>(open[bucket].size()) == format.batch_sizes[bucket])
      close(bucket);
  }
  while (!format.drop_remainder && !open.empty()) close(open.begin()->first);
  return flat(rows, unbatch_twice(make_bucket_by_sequence_length(many, length, format).value()));
}

// Keeps all elements of some classes, and none of the others.
sample resample(dice& die, const sample& in) {
  std::vector<double> target{1, 0, 0};
  for (size_t i = 1; i < target.size(); ++i) target[i] = die.toss() ? 1 : 0;
  auto class_of = traced(in.graph, [](expr x) { return floor_mod(x, int64_t{3}); });
  auto pairs =
    make_rejection_resample(in.graph, class_of, target, {1, 1, 1},
                            die.toss() ? std::optional{uint64_t{die.below(9)}} : std::nullopt)
      .value();
  sample out{mapped(pairs, traced(pairs, [](expr, expr x) { return x; })), {}};
  for (const auto& x : in.want)
    if (x.failed || target[static_cast<size_t>(modulo(x.numbers[0], 3))] != 0)
      out.want.push_back(x);
  return out;
}

sample single(const sample& in) {
  auto windows = make_window(in.graph, 1, 1).value();
  auto f = traced(windows, [](dataset_ptr w) { return make_single_element(w).value(); });
  return {make_flat_map(windows, f).value(), in.want};
}

sample reduce(const sample& in) {
  sample out{sum_of(in.graph), {sum_of(joined(in.want, 0, in.want.size()))}};
  return out;
}

} // namespace

sample random_group(dice& die, const sample& in) {
  switch (die.below(9)) {
  case 0:
  case 1: return window(die, in);
  case 2:
  case 3: return group_by_window(die, in);
  case 4:
  case 5: return padded_batch(die, in);
  case 6: return buckets(die, in);
  case 7: return resample(die, in);
  default: return die.below(3) == 0 ? reduce(in) : single(in);
  }
}

} // namespace headrace::detail::test::random
