#pragma once

#include "tests/pipeline/random/sources.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <algorithm>

namespace headrace::detail::test::saving {

using random::dice;
using random::elements;
using random::number;
using random::sample;

/// Makes random graphs without elements that fail. Nearly all of the graphs can be saved in pieces.
class divisible_maker : public dice {
public:
  /// The files of the sources are written into `folder`, which must exist as long as the graphs are
  /// read.
  divisible_maker(uint64_t seed, const scratch_folder& folder) : dice(seed), folder_(folder) {}

  /// A graph whose elements have a known order.
  sample make(int depth) {
    if (depth == 0)
      return aligned(static_cast<int>(below(4)));
    switch (below(7)) {
    case 0: {
      auto a = make(depth - 1);
      const auto b = make(depth - 1);
      a.want.insert(a.want.end(), b.want.begin(), b.want.end());
      return {make_concatenate(a.graph, b.graph).value(), a.want};
    }
    case 1: {
      const auto in = make(depth - 1);
      const auto n = between(0, 3);
      sample out{make_repeat(in.graph, n).value(), {}};
      for (int64_t i = 0; i < n; ++i)
        out.want.insert(out.want.end(), in.want.begin(), in.want.end());
      return out;
    }
    case 2: {
      auto in = make(depth - 1);
      in.graph = make_filter(in.graph, traced(in.graph, [](expr x) { return x % 3 == 0; })).value();
      std::erase_if(in.want, [](const auto& x) { return x.numbers[0] % 3 != 0; });
      return in;
    }
    case 3: return in_twos(make(depth - 1));
    case 4: return around(make(depth - 1));
    default: return make(depth - 1);
    }
  }

private:
  /// A graph whose row i descends from split i of each source or, after batches, from several
  /// consecutive splits.
  sample aligned(int depth) {
    if (depth == 0)
      return source();
    switch (below(5)) {
    case 0: return summed(aligned(depth - 1));
    case 1:
    case 2: return difference(aligned(depth - 1), aligned(depth - 1));
    case 3: return beside_counter(aligned(depth - 1));
    default: return around(aligned(depth - 1));
    }
  }

  sample source() {
    if (toss())
      return random::shuffled_source(*this, folder_);
    const auto first = between(-20, 20), n = between(0, 40);
    sample out{range(first, first + n), {}};
    for (int64_t i = 0; i < n; ++i) out.want.push_back(number(first + i));
    return out;
  }

  /// Applies an operator that gives one element for each element of `in`, in the same order.
  sample around(sample in) {
    switch (below(4)) {
    case 0: in.graph = make_prefetch(in.graph, between(-1, 3)).value(); break;
    case 1: in.graph = make_cache(in.graph).value(); break;
    case 2: in.graph = make_options(in.graph, {.autotune = toss()}).value(); break;
    default:
      in.graph =
        make_map(in.graph, traced(in.graph, [](expr x) { return x + 1; }), between(-1, 3)).value();
      for (auto& x : in.want) ++x.numbers[0];
    }
    return in;
  }

  /// Batches the elements of `in` and gives the sum of each batch.
  sample summed(const sample& in) {
    const auto n = between(1, 5);
    const bool drop = toss();
    const auto batches = make_batch(in.graph, n, drop).value();
    sample out{make_map(batches, traced(batches, [](expr x) { return reduce_sum(x); })).value(),
               {}};
    const auto size = static_cast<size_t>(n);
    for (size_t i = 0; i < in.want.size(); i += size) {
      const auto end = std::min(in.want.size(), i + size);
      if (drop && end - i < size)
        break;
      int64_t sum = 0;
      for (auto j = i; j < end; ++j) sum += in.want[j].numbers[0];
      out.want.push_back(number(sum));
    }
    return out;
  }

  sample difference(const sample& a, const sample& b) {
    const auto pairs = make_zip({a.graph, b.graph}).value();
    sample out{make_map(pairs, traced(pairs, [](expr x, expr y) { return x - 2 * y; })).value(),
               {}};
    for (size_t i = 0; i < std::min(a.want.size(), b.want.size()); ++i)
      out.want.push_back(number(a.want[i].numbers[0] - 2 * b.want[i].numbers[0]));
    return out;
  }

  sample beside_counter(const sample& in) {
    const auto counter = make_counter(3, 2).value();
    auto inputs = toss() ? std::vector{in.graph, counter} : std::vector{counter, in.graph};
    const auto pairs = make_zip(std::move(inputs)).value();
    sample out{make_map(pairs, traced(pairs, [](expr x, expr y) { return x + y; })).value(), {}};
    for (size_t i = 0; i < in.want.size(); ++i)
      out.want.push_back(number(in.want[i].numbers[0] + 3 + 2 * static_cast<int64_t>(i)));
    return out;
  }

  /// Gives each even number once, for each positive odd number x both x and x + 1, and nothing for
  /// negative odd numbers.
  static sample in_twos(const sample& in) {
    sample out{make_flat_map(in.graph, traced(in.graph,
                                              [](expr x) {
                                                return make_range(x.node(), (x + 1 + x % 2).node(),
                                                                  scalar_constant(1))
                                                  .value();
                                              }))
                 .value(),
               {}};
    for (const auto& x : in.want) {
      const auto first = x.numbers[0];
      for (auto i = first; i < first + 1 + first % 2; ++i) out.want.push_back(number(i));
    }
    return out;
  }

  const scratch_folder& folder_;
};

} // namespace headrace::detail::test::saving
