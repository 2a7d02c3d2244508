#include "headrace/pipeline/codec/position_codec.hpp"
#include "headrace/pipeline/functions/sequences.hpp"
#include "tests/pipeline/random/generator.hpp"
#include "tests/support/test_seed.hpp"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <span>
#include <sys/stat.h>

// If parallel calls may change the order of rows, the rows after a position depend on time. The
// rows that an iterator returned after a position must also be the first rows, in the same order,
// of an iterator that is restored from that position.

namespace headrace::detail {
namespace {

using test::always;
using test::range;
using test::read_all;
using test::traced;
using texts = std::vector<std::string>;

dataset_ptr unordered(const dataset_ptr& graph) {
  return make_options(graph, {.deterministic = false}).value();
}

/// Maps each number to itself with parallel calls, some of which take much longer than others.
dataset_ptr uneven(const dataset_ptr& in) {
  const auto f = traced(
    in, [](const expr& x) { return x + 0 * reduce_sum(detail::range(0 * x, (x % 5) * 20'000)); });
  return make_map(in, f, 4).value();
}

dataset_ptr three_of_each(const dataset_ptr& in, int64_t cycle) {
  const auto f = traced(in, [](const expr& x) {
    return make_range((x * 3).node(), (x * 3 + 3).node(), scalar_constant(1)).value();
  });
  return make_interleave(in, f, cycle, 2, 3).value();
}

std::unique_ptr<iterator> restored(const dataset_ptr& graph, const iterator_context& context,
                                   const position_ptr& at) {
  const auto record = encode_iteration({.graph = "x", .point = {at, 0}}).value();
  auto out = make_iterator(graph, context).value();
  EXPECT_EQ(to_string(out->restore(*decode_iteration(record, "x").value().point.at)), "ok");
  return out;
}

void append(texts& to, texts more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// Saves positions at every third row (of many rows, at about `most_stops` places) and restores
/// each of them after further rows were read. Also saves and restores a position while the restored
/// iterator repeats these rows. Checks that the repeated rows have the same order and no row is
/// lost.
void expect_repeats(const dataset_ptr& graph, const texts& want, uint64_t seed,
                    size_t most_stops = 40) {
  test::random::dice draw{seed};
  iterator_context context;
  context.seed = seed;
  const auto sizes = [&] { return 1 + draw.below(5); };
  const size_t step = std::max<size_t>(3, want.size() / most_stops);
  for (size_t stop = 0; stop <= want.size(); stop += step) {
    auto first = make_iterator(graph, context).value();
    const auto before = read_all(*first, sizes, stop);
    const auto at = first->save();
    const auto after = read_all(*first, sizes, draw.below(want.size() + 1));
    auto second = restored(graph, context, at);
    const auto part = draw.below(after.size() + 1);
    const auto again = read_all(*second, sizes, part);
    const auto later = second->save();
    auto rest = read_all(*second, sizes, draw.below(want.size() + 1));
    append(rest, read_all(*restored(graph, context, second->save()), sizes));
    for (const auto& it : {later, at}) {
      auto got = it == later ? again : texts{};
      append(got, read_all(*restored(graph, context, it), sizes));
      ASSERT_GE(got.size(), after.size()) << "at " << stop << ": " << got.back();
      const texts first_rows{got.begin(), got.begin() + static_cast<ptrdiff_t>(after.size())};
      ASSERT_EQ(first_rows, after) << "at " << stop << (it == later ? ", again" : "");
      auto whole = before;
      append(whole, std::move(got));
      std::ranges::sort(whole);
      ASSERT_EQ(whole, want) << "at " << stop;
    }
    auto whole = before;
    append(whole, again);
    append(whole, rest);
    std::ranges::sort(whole);
    ASSERT_EQ(whole, want) << "at " << stop;
  }
}

void expect_repeats(const dataset_ptr& graph) {
  auto want = read_all(graph);
  std::ranges::sort(want);
  expect_repeats(unordered(graph), want, test::test_seed());
}

TEST(UnorderedPositions, OfMaps) { expect_repeats(uneven(range(0, 120))); }
TEST(UnorderedPositions, OfInterleaves) { expect_repeats(three_of_each(range(0, 40), 5)); }
TEST(UnorderedPositions, OfMapsOfInterleaves) {
  expect_repeats(uneven(three_of_each(range(0, 40), 4)));
}
TEST(UnorderedPositions, OfInterleavesOfMaps) {
  expect_repeats(three_of_each(uneven(range(0, 40)), 4));
}
TEST(UnorderedPositions, OfMapsInInterleaves) {
  const auto in = range(0, 12);
  const auto f = traced(in, [](const expr& x) {
    return uneven(make_range((x * 9).node(), (x * 9 + 9).node(), scalar_constant(1)).value());
  });
  expect_repeats(make_interleave(in, f, 3, 1, 2).value());
}
TEST(UnorderedPositions, OfWhatIsOpenedLater) {
  const auto in = range(0, 12);
  const auto nine = traced(in, [](const expr& x) {
    return uneven(make_range((x * 9).node(), (x * 9 + 9).node(), scalar_constant(1)).value());
  });
  const auto some = uneven(range(0, 15)), more = uneven(range(15, 30));
  expect_repeats(make_flat_map(in, nine).value());
  expect_repeats(make_interleave(in, nine, 3, 2).value());
  expect_repeats(make_repeat(some, 5).value());
  expect_repeats(make_concatenate(make_concatenate(some, more).value(), some).value());
  expect_repeats(make_repeat(make_flat_map(range(0, 4), nine).value(), 3).value());
}
TEST(UnorderedPositions, OfCaches) {
  const auto some = make_cache(uneven(range(0, 30))).value();
  expect_repeats(some);
  expect_repeats(make_repeat(some, 3).value());
  expect_repeats(make_concatenate(range(50, 60), some).value());
}
/// Each reading of a cache's input may give the rows in another order. A position belongs to the
/// order of the reading in which it was saved, whichever order the cache keeps.
TEST(UnorderedPositions, OfOneCacheThatWasReadTwice) {
  for (int run = 0; run < 10; ++run) {
    const auto graph = unordered(make_cache(uneven(range(0, 120))).value());
    iterator_context context;
    auto it = make_iterator(graph, context).value();
    const auto before = read_all(*it, always(1), 10);
    const auto early = it->save();
    const auto between = read_all(*it, always(1), 50);
    const auto late = it->save();
    it.reset();
    for (const auto& [given, from] : {std::pair{&before, early}, std::pair{&between, late}}) {
      auto got = before;
      if (given == &between)
        append(got, between);
      append(got, read_all(*restored(graph, context, from), always(3)));
      std::ranges::sort(got);
      auto want = read_all(range(0, 120));
      std::ranges::sort(want);
      ASSERT_EQ(got, want) << (given == &before ? "early" : "late");
    }
  }
}
TEST(UnorderedPositions, OfAnIteratorThatWentBackBeforeWhatTheCacheKeeps) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const auto cache = make_cache(uneven(range(0, 240))).value();
    const auto graph = unordered(make_shuffle(cache, 40, seed).value());
    iterator_context context;
    auto first = make_iterator(graph, context).value();
    const auto early = first->save();
    read_all(*first, always(1), 5);
    const auto record = encode_iteration({.graph = "x", .point = {early, 0}}).value();
    read_all(*first, always(3)); // the cache keeps this order
    auto second = restored(graph, context, decode_iteration(record, "x").value().point.at);
    auto got = read_all(*second, always(1), 120);
    append(got, read_all(*restored(graph, context, second->save()), always(3)));
    std::ranges::sort(got);
    auto want = read_all(range(0, 240));
    std::ranges::sort(want);
    ASSERT_EQ(got, want) << seed;
  }
}
/// An iterator that is restored from a position first returns the rows that were returned after
/// that position, even if another iterator has since filled the cache's folder in another order.
TEST(UnorderedPositions, OfACacheWhoseFolderAnotherIteratorCompleted) {
  auto want = read_all(range(0, 120));
  std::ranges::sort(want);
  for (int run = 0; run < 10; ++run) {
    test::scratch_folder folder;
    const auto graph =
      unordered(make_cache(uneven(range(0, 120)), folder.path() + "/kept").value());
    iterator_context context;
    auto first = make_iterator(graph, context).value();
    const auto at = first->save();
    const auto after = read_all(*first, always(1), 50);
    ASSERT_EQ(read_all(*make_iterator(graph, context).value()).size(), want.size());
    auto second = restored(graph, context, at);
    auto got = read_all(*second, always(3), 80);
    ASSERT_TRUE(std::ranges::equal(after, std::span{got}.first(after.size())));
    append(got, read_all(*restored(graph, context, second->save()), always(3)));
    std::ranges::sort(got);
    ASSERT_EQ(got, want);
  }
}
TEST(UnorderedPositions, OfDatasetsThatChangedSinceEndTheIteration) {
  test::scratch_folder folder;
  const auto numbers = make_text_lines(
    string_constant(std::vector<std::string>{folder.write("numbers", "1\n1\n1\n1\n")}));
  const auto nines = traced(numbers.value(), [](const expr& line) {
    const auto x = strings::to_number(line, dtype::int64);
    return uneven(make_range((0 * x).node(), (9 / x).node(), scalar_constant(1)).value());
  });
  const auto graph = unordered(make_flat_map(numbers.value(), nines).value());
  iterator_context context;
  auto it = make_iterator(graph, context).value();
  const auto at = it->save();
  ASSERT_EQ(read_all(*it, always(3), 20).size(), 20u);
  folder.write("numbers", "0\n0\n0\n0\n");
  EXPECT_EQ(read_all(*restored(graph, context, at), always(50)).size(), 1u);
}
TEST(UnorderedPositions, OfOneCacheWithTwoReaders) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const auto cache = make_cache(uneven(range(0, 60))).value();
    const auto both = make_sample_from({cache, cache}, {}, 7).value();
    const auto graph = unordered(make_shuffle(both, 50, seed).value());
    iterator_context context;
    auto it = make_iterator(graph, context).value();
    auto got = read_all(*it, always(1), 30 + seed);
    const auto at = it->save();
    read_all(*it, always(1), 20);
    append(got, read_all(*restored(graph, context, at), always(3)));
    std::ranges::sort(got);
    auto want = read_all(make_concatenate(range(0, 60), range(0, 60)).value());
    std::ranges::sort(want);
    ASSERT_EQ(got, want) << seed;
  }
}
TEST(UnorderedPositions, UnderRowsThatAreHeld) {
  expect_repeats(make_shuffle(uneven(range(0, 120)), 30, 7).value());
  expect_repeats(make_prefetch(uneven(range(0, 120)), 9).value());
  expect_repeats(make_repeat(make_shuffle(uneven(range(0, 40)), 50).value(), 3).value());
  expect_repeats(make_unique_elements(make_repeat(uneven(range(0, 40)), 2).value()).value());
}

TEST(UnorderedPositions, OfAnInterleaveBesideAFileThatKeepsItWaiting) {
  test::scratch_folder folder;
  const auto slow = folder.path() + "/slow";
  ASSERT_EQ(::mkfifo(slow.c_str(), 0600), 0);
  const std::vector<std::string> names{slow, folder.write("fast", "1\n2\n3\n")};
  const auto files = make_from_tensor_slices({string_constant(names)}).value();
  const auto lines = traced(files, [](const expr& x) { return make_text_lines(x.node()).value(); });
  const auto graph = make_interleave(files, lines, 2, 1, 2, false).value();
  iterator_context context;
  auto it = make_iterator(graph, context).value();
  const auto at = it->save();
  const texts fast{"'1'", "'2'", "'3'"};
  ASSERT_EQ(read_all(*it, always(1), 3), fast);
  const auto record = encode_iteration({.graph = "x", .point = {at, 0}}).value();
  // No other iterator has the slow file open at this time, so the line goes to this iterator.
  std::ofstream{slow} << "late\n";
  EXPECT_EQ(read_all(*it), texts{"'late'"});
  auto again = make_iterator(graph, context).value();
  ASSERT_TRUE(again->restore(*decode_iteration(record, "x").value().point.at).ok());
  EXPECT_EQ(read_all(*again, always(1), 3), fast); // does not wait for the slow file
  std::ofstream{slow} << "late\n";
  EXPECT_EQ(read_all(*again), texts{"'late'"});
}

TEST(UnorderedPositions, WithNumbersThatNoIteratorWroteAreRefusedOrHarmless) {
  for (const auto& plain : {uneven(range(0, 40)), three_of_each(range(0, 12), 4),
                            make_repeat(uneven(range(0, 9)), 3).value()}) {
    const auto graph = unordered(plain);
    iterator_context context;
    auto it = make_iterator(graph, context).value();
    read_all(*it, always(2), 3);
    const auto at = it->save();
    read_all(*it, always(2), 12);
    const auto record = encode_iteration({.graph = "x", .point = {at, 0}}).value();
    const auto good = decode_iteration(record, "x").value().point.at;
    size_t refused = 0, changes = 0;
    for (uint64_t bad :
         {uint64_t{0}, uint64_t{1}, uint64_t{7}, uint64_t{1} << 33, UINT64_MAX / 2, UINT64_MAX})
      for (size_t n = 0; n < good->numbers.size(); ++n) {
        auto changed = *good;
        changed.numbers[n] = bad;
        auto fresh = make_iterator(graph, context).value();
        ++changes;
        if (!fresh->restore(changed).ok())
          ++refused;
        else
          read_all(*fresh, always(3), 200);
      }
    EXPECT_GT(refused, changes / 10);
    EXPECT_LT(refused, changes);
  }
}

TEST(UnorderedPositions, OfRandomGraphs) {
  const auto first = test::test_seed();
  for (uint64_t i = 0; i < 150; ++i) {
    SCOPED_TRACE(fmt::format("seed {}, pipeline {}", first, i));
    test::scratch_folder folder;
    test::random::generator make{first + i * 1000003, folder, true};
    const auto graph = unordered(make.make(static_cast<int>(1 + make.below(6))).graph);
    iterator_context context;
    context.find_function = test::find_function;
    context.seed = i;
    const auto most = 1 + make.below(40);
    const auto sizes = [&] { return 1 + make.below(most); };
    auto it = make_iterator(graph, context).value();
    read_all(*it, sizes, make.below(100));
    const auto at = it->save();
    const auto after = read_all(*it, sizes);
    auto again = restored(graph, context, at);
    auto got = read_all(*again, sizes, make.below(after.size() + 1));
    append(got, read_all(*restored(graph, context, again->save()), sizes));
    ASSERT_EQ(got, after);
  }
}

} // namespace
} // namespace headrace::detail
