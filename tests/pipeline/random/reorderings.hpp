#pragma once

#include "tests/pipeline/random/samples.hpp"

/// Operators that give the elements of their inputs in an order that the generator does not
/// compute: most have no seed, or another order in each pass.
namespace headrace::detail::test::random {

inline sample reordered(dice& die, const sample& in) {
  const auto seed = die.toss() ? std::nullopt : std::optional{uint64_t{die.below(9)}};
  const auto n = die.between(0, 3);
  auto shuffled = make_shuffle(in.graph, die.between(1, 40), seed, die.toss()).value();
  sample out{make_repeat(shuffled, n).value(), {}};
  for (int64_t i = 0; i < n; ++i) out.want.insert(out.want.end(), in.want.begin(), in.want.end());
  return out;
}

inline sample sampled_anyhow(dice& die, const sample& a, const sample& b) {
  std::vector<double> weights;
  if (die.toss())
    weights = {static_cast<double>(die.between(1, 5)), 0.25};
  sample out{make_sample_from({a.graph, b.graph}, weights, {}, false, die.toss()).value(), a.want};
  out.want.insert(out.want.end(), b.want.begin(), b.want.end());
  return out;
}

} // namespace headrace::detail::test::random
