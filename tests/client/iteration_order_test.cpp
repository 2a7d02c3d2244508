#include "headrace/headrace.hpp"

#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using order = std::vector<int64_t>;

order read(dataset_iterator from) {
  order out;
  while (auto x = from.next().value()) out.push_back((*x)[0].scalar<int64_t>());
  return out;
}
order read(const dataset& from) { return read(from.iterate()); }

std::vector<order> orders(const dataset& from, size_t iterations) {
  std::vector<order> out;
  for (size_t i = 0; i < iterations; ++i) out.push_back(read(from));
  return out;
}

dataset seeded() { return dataset::range(50).shuffle(50, {.seed = 7}); }

TEST(IterationOrder, EachIterationIsShuffledAnewAndAProgramIsAlwaysTheSame) {
  for (const auto& make :
       {+[] { return seeded(); }, +[] { return dataset::range(50).global_shuffle({.seed = 7}); },
        +[] { return dataset::random({.seed = 7, .reseed_each_iteration = true}).take(50); }}) {
    const auto first = orders(make(), 3);
    EXPECT_NE(first[0], first[1]);
    EXPECT_NE(first[0], first[2]);
    EXPECT_NE(first[1], first[2]);
    EXPECT_EQ(orders(make(), 3), first);
  }
}

TEST(IterationOrder, CopiesOfADatasetAreCountedTogether) {
  const auto one = seeded();
  const auto copy = one; // NOLINT(performance-unnecessary-copy-initialization): tests copies
  const auto expected = orders(seeded(), 2);
  EXPECT_EQ(read(one), expected[0]);
  EXPECT_EQ(read(copy), expected[1]);
}

TEST(IterationOrder, ReducingIsAnIteration) {
  const auto ds = seeded();
  const auto last = [&] {
    return ds.reduce(expr{int64_t{0}}, [](expr, expr x) { return x; })[0].scalar<int64_t>();
  };
  const auto expected = orders(seeded(), 2);
  EXPECT_EQ(last(), expected[0].back());
  EXPECT_EQ(last(), expected[1].back());
}

TEST(IterationOrder, StaysWhereNothingReshufflesEvenWithoutASeed) {
  const auto ds = dataset::range(50).shuffle(50, {.reshuffle_each_iteration = false});
  EXPECT_EQ(read(ds), read(ds));
  const auto all = dataset::range(50).global_shuffle({.reshuffle_each_iteration = false});
  EXPECT_EQ(read(all), read(all));
  const auto other = dataset::range(50).shuffle(50, {.reshuffle_each_iteration = false});
  EXPECT_NE(read(ds), read(other));
}

TEST(IterationOrder, IsThatOfTheIterationThatIsAskedFor) {
  const auto expected = orders(seeded(), 3);
  EXPECT_EQ(read(seeded().iterate({.repetition = 2})), expected[2]);
}

TEST(IterationOrder, ARestoredIterationIsTheOneThatItWasAndOthersComeAfterIt) {
  const auto expected = orders(seeded(), 3);
  const auto ds = seeded();
  read(ds);
  auto second = ds.iterate();
  for (int i = 0; i < 20; ++i) (void)second.next();
  const auto record = second.save().value();

  const auto later = seeded(); // as in another process
  EXPECT_EQ(read(later.restore(record)), order(expected[1].begin() + 20, expected[1].end()));
  EXPECT_EQ(read(later), expected[2]);
}

TEST(IterationOrder, ARecordOfTheEndGivesAnIteratorThatHasEnded) {
  for (const auto& ds :
       {seeded(), seeded().batch(7).prefetch(2).unbatch(), seeded().repeat(2).take(60),
        dataset::range(20).map([](expr x) { return x * 2; }, {3}),
        dataset::range(9).interleave([](expr n) { return dataset::range(n); }), seeded().cache()}) {
    auto at = ds.iterate();
    while (at.next().value()) {
    }
    auto ended = ds.restore(at.save().value());
    EXPECT_FALSE(ended.next().value());
    EXPECT_FALSE(ended.next().value());
  }
}

TEST(IterationOrder, WorkersCountTheIterationsOfAnonymousJobsToo) {
  local_cluster cluster{{.workers = 1}};
  const auto ds = seeded().apply(distribute({.service = cluster.target()}));
  EXPECT_EQ(orders(ds, 2), orders(seeded(), 2));
}

} // namespace
} // namespace headrace::detail
