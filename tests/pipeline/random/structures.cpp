#include "tests/pipeline/random/structures.hpp"

#include "headrace/pipeline/functions/math.hpp"
#include "headrace/pipeline/functions/strings.hpp"
#include "tests/pipeline/random/orders.hpp"

#include <algorithm>

namespace headrace::detail::test::random {

namespace {

/// An array that contains the number as many times as its remainder modulo 3.
expr repeated(const expr& x) {
  const auto zeros = constant(std::vector<int64_t>(3, 0));
  return slice(zeros + x, constant(std::vector<int64_t>{0}), reshape(floor_mod(x, 3), {1}));
}

// The elements after they were grouped and the groups taken apart: a group with an error row
// becomes one failure.
elements regrouped(const elements& in, size_t size) {
  elements out;
  for (size_t i = 0; i < in.size(); i += size) {
    elements group{in.begin() + static_cast<std::ptrdiff_t>(i),
                   in.begin() + static_cast<std::ptrdiff_t>(std::min(in.size(), i + size))};
    if (std::any_of(group.begin(), group.end(), [](const auto& x) { return x.failed; }))
      group = {failure()};
    out.insert(out.end(), group.begin(), group.end());
  }
  return out;
}

sample some_operator(dice& die, sample in) {
  const auto n = static_cast<size_t>(die.between(1, 40));
  const auto count = static_cast<int64_t>(n);
  switch (die.below(10)) {
  case 0:
    in.want.resize(std::min(in.want.size(), n));
    return {make_take(in.graph, count).value(), in.want};
  case 1:
    in.want.erase(in.want.begin(),
                  in.want.begin() + static_cast<std::ptrdiff_t>(std::min(in.want.size(), n)));
    return {make_skip(in.graph, count).value(), in.want};
  case 2: return {make_prefetch(in.graph, die.between(-1, 3)).value(), in.want};
  case 3: return {make_window(in.graph, count, count).value(), regrouped(in.want, n)};
  case 4: {
    const uint64_t seed = die.below(100);
    return {make_shuffle(in.graph, count, seed, false).value(), shuffled(in.want, n, seed)};
  }
  case 5: {
    auto some = make_take(in.graph, count).value();
    auto want = in.want;
    want.insert(want.end(), in.want.begin(),
                in.want.begin() + static_cast<std::ptrdiff_t>(std::min(in.want.size(), n)));
    return {make_concatenate(in.graph, some).value(), want};
  }
  case 6: {
    auto want = in.want;
    want.insert(want.end(), in.want.begin(), in.want.end());
    return {make_repeat(make_cache(in.graph).value(), 2).value(), want};
  }
  default: // padding does not change the sums of vectors
    return {make_unbatch(make_padded_batch(in.graph, count).value()).value(),
            regrouped(in.want, n)};
  }
}

/// If the elements are windows, replaces each window by its elements: the datasets of the window's
/// components are zipped.
sample without_windows(sample in) {
  if (!has_datasets(in.graph->spec))
    return in;
  const auto f = traced(in.graph, [](expr x, expr text, expr real, expr many) {
    return make_elements_of({x.node(), text.node(), real.node(), many.node()},
                            structure::tuple(std::vector<structure>(4)))
      .value();
  });
  return {make_flat_map(in.graph, f).value(), in.want};
}

} // namespace

sample through_structures(dice& die, const sample& in) {
  sample out{
    make_map(in.graph,
             traced(in.graph,
                    [](expr x) {
                      return std::tuple{x, strings::as_string(x), cast<double>(x), repeated(x)};
                    }))
      .value(),
    in.want};
  for (size_t i = die.below(3) + 1; i != 0; --i)
    out = without_windows(some_operator(die, std::move(out)));
  // The result is x if the text, the float and the vector were made of x, too.
  auto back = traced(out.graph, [](expr x, expr text, expr real, expr many) {
    const auto difference = cast<int64_t>(real) - x;
    return strings::to_number<int64_t>(text) + difference
           + (reduce_sum(many) - x * floor_mod(x, 3));
  });
  return {make_map(out.graph, std::move(back)).value(), std::move(out.want)};
}

} // namespace headrace::detail::test::random
