#pragma once

#include "headrace/pipeline/iterator/counter_random.hpp"
#include "tests/pipeline/random/samples.hpp"

/// The orders of operators that draw random numbers, computed element by element from the same
/// random numbers. The operators have a seed, which is the same in each iteration.
namespace headrace::detail::test::random {

/// The key with which an operator that has this seed draws its random numbers.
inline uint64_t key_of(uint64_t seed) { return detail::mix(seed, 0x5eed); }

/// The order of `shuffle`: an error row does not enter the buffer, and is given when its turn to
/// enter has come.
inline elements shuffled(const elements& in, size_t buffer, uint64_t seed) {
  detail::counter_random random{key_of(seed)};
  elements out, held;
  uint64_t draws = 0;
  const auto give = [&] {
    const auto place = random.below(draws++, held.size());
    out.push_back(held[place]);
    held[place] = held.back();
    held.pop_back();
  };
  for (const auto& x : in) {
    if (held.size() == buffer)
      give();
    (x.failed ? out : held).push_back(x);
  }
  while (!held.empty()) give();
  return out;
}

/// The order of `sample_from`: each draw chooses, by weight, among the inputs whose end was not
/// read yet.
inline elements sampled(const std::vector<elements>& in, std::vector<double> weights, uint64_t seed,
                        bool stop_on_empty) {
  detail::counter_random random{key_of(seed)};
  std::vector<size_t> at(in.size());
  elements out;
  for (uint64_t draws = 0;;) {
    double total = 0, sum = 0;
    for (const auto x : weights) total += x;
    if (total == 0)
      return out;
    const auto point = static_cast<double>(random.bits(draws) >> 11) * 0x1p-53 * total;
    size_t which = 0;
    for (size_t i = 0; i < weights.size() && (i == 0 || point >= sum); ++i) {
      if (weights[i] != 0)
        which = i;
      sum += weights[i];
    }
    if (at[which] < in[which].size()) {
      out.push_back(in[which][at[which]++]);
      ++draws;
      continue;
    }
    if (stop_on_empty)
      return out;
    weights[which] = 0;
  }
}

} // namespace headrace::detail::test::random
