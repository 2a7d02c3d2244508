#include "headrace/pipeline/functions/random.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <gtest/gtest.h>

#include <set>

namespace headrace::detail {
namespace {

using test::always;
using test::range;
using test::read_all;
using test::traced;

/// A random number that is drawn with the seed of the element.
expr draw(const expr& x, int64_t salt) {
  return random::stateless_uniform({}, random::element_seed(salt), int64_t{0}, int64_t{1} << 40)
         + x * 0;
}

dataset_ptr drawn(const dataset_ptr& in, int64_t parallel = 0) {
  return make_map(in,
                  traced(in,
                         [](expr x) {
                           return std::tuple{x, draw(x, 1), draw(x, 2)};
                         }),
                  parallel)
    .value();
}

std::vector<std::string> read_with(const dataset_ptr& graph, uint64_t seed, uint64_t repetition,
                                   size_t rows) {
  iterator_context context;
  context.seed = seed;
  context.repetition = repetition;
  return read_all(*make_iterator(graph, context).value(), always(rows));
}

TEST(ElementSeed, DependsOnTheElementAndTheIterationAlone) {
  const auto graph = drawn(range(0, 300));
  const auto wanted = read_with(graph, 5, 0, 1000);
  EXPECT_EQ(std::set<std::string>(wanted.begin(), wanted.end()).size(), 300u);
  EXPECT_EQ(read_with(graph, 5, 0, 1), wanted);
  EXPECT_EQ(read_with(graph, 5, 0, 7), wanted);
  EXPECT_EQ(read_with(drawn(range(0, 300), 3), 5, 0, 7), wanted);
  EXPECT_NE(read_with(graph, 6, 0, 7), wanted);
  EXPECT_NE(read_with(graph, 5, 1, 7), wanted);
}

TEST(ElementSeed, DiffersByPassMapAndSalt) {
  auto in = range(0, 1);
  auto twice = make_repeat(drawn(in), 2).value();
  const auto rows = read_with(twice, 5, 0, 10);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_NE(rows[0], rows[1]);
  auto two = make_zip({drawn(in), drawn(in)}).value();
  const auto row = read_with(two, 5, 0, 10).at(0);
  std::set<std::string> numbers;
  for (size_t at = 0; at < row.size();) {
    const auto end = std::min(row.find('|', at), row.size());
    numbers.insert(row.substr(at, end - at));
    at = end + 1;
  }
  EXPECT_EQ(numbers.size(), 5u) << row; // the element 0, which both sides have, and four draws
}

TEST(ElementSeed, MayBeTheSameInEachIterationIfAllOfAFunctionAre) {
  const auto in = range(0, 20);
  const auto graph = [&](bool first, bool second) {
    const auto value = [](bool same, int64_t salt, const expr& x) {
      return random::stateless_uniform({}, random::element_seed(salt, same), int64_t{0},
                                       int64_t{1} << 40)
             + x * 0;
    };
    return make_map(in, traced(in,
                               [&](expr x) {
                                 return std::tuple{value(first, 1, x), value(second, 2, x)};
                               }))
      .value();
  };
  const auto wanted = read_with(graph(true, true), 5, 0, 7);
  EXPECT_EQ(std::set<std::string>(wanted.begin(), wanted.end()).size(), 20u);
  EXPECT_EQ(read_with(graph(true, true), 5, 1, 3), wanted);
  EXPECT_EQ(read_with(graph(true, true), 6, 0, 9), wanted);
  EXPECT_NE(read_with(graph(true, false), 5, 0, 7), read_with(graph(true, false), 5, 1, 7));
  const auto twice = read_with(make_repeat(graph(true, true), 2).value(), 5, 0, 50);
  ASSERT_EQ(twice.size(), 40u);
  EXPECT_NE(twice[0], twice[20]);
}

TEST(ElementSeed, GoesOnWhereItWasSaved) {
  for (int64_t parallel : {0, 2}) {
    const auto graph = drawn(range(0, 100), parallel);
    iterator_context context;
    context.seed = 9;
    const auto wanted = read_all(*make_iterator(graph, context).value(), always(8));
    auto first = make_iterator(graph, context).value();
    auto rows = read_all(*first, always(5), 35);
    const auto position = first->save();
    auto second = make_iterator(graph, context).value();
    ASSERT_TRUE(second->restore(*position).ok());
    for (auto& row : read_all(*second, always(11))) rows.push_back(row);
    EXPECT_EQ(rows, wanted);
  }
}

TEST(ElementSeed, ChoosesInFilters) {
  auto in = range(0, 1000);
  auto graph =
    make_filter(in, traced(in, [](expr x) { return draw(x, 1) < (int64_t{1} << 39); })).value();
  const auto rows = read_with(graph, 5, 0, 64);
  EXPECT_GT(rows.size(), 400u);
  EXPECT_LT(rows.size(), 600u);
  EXPECT_EQ(read_with(graph, 5, 0, 1), rows);
}

/// Checks that the rows are the same in blocks of 1 and 1000 rows, and after a save and a restore,
/// and are others with another seed.
void expect_steady(const dataset_ptr& graph) {
  iterator_context context;
  context.seed = 5;
  const auto rows = read_with(graph, 5, 0, 1000);
  EXPECT_EQ(read_with(graph, 5, 0, 1), rows);
  EXPECT_NE(read_with(graph, 6, 0, 1000), rows);
  auto first = make_iterator(graph, context).value();
  auto parts = read_all(*first, always(3), 4);
  auto second = make_iterator(graph, context).value();
  ASSERT_EQ(second->restore(*first->save()), status{});
  for (auto& row : read_all(*second, always(5))) parts.push_back(row);
  EXPECT_EQ(parts, rows);
}

TEST(ElementSeed, DrawsInScansAndTakeWhile) {
  auto in = range(0, 50);
  auto f = std::make_shared<const function>(
    trace(element_spec::tuple({in->spec, in->spec}), [](expr sum, expr x) {
      return std::pair{sum + draw(x, 1), sum};
    }));
  expect_steady(make_scan(in, {scalar_constant(0)}, f).value());
  // Each element ends the take_while with a probability of 1/32. The condition gets its seeds from
  // a column beside the elements; the rows that take_while gives do not contain this column.
  auto many = make_repeat(range(0, 1000), 1).value();
  auto until = traced(many, [](expr x) { return draw(x, 1) > (int64_t{1} << 35); });
  const auto kept = make_take_while(many, until).value();
  expect_steady(make_map(kept, traced(kept,
                                      [](expr x) {
                                        return std::pair{x, draw(x, 3)};
                                      }))
                  .value());
}

TEST(ElementSeed, InFunctionsIsNotThatOfARowOfTheSameNumberInAnotherRun) {
  // Each run numbers its rows from 0, whichever splits it reads, so the number of a row alone would
  // give rows of two runs the same seed.
  const auto in = range(0, 6);
  const auto inside = [](expr) {
    auto two = range(0, 2);
    return make_map(two, traced(two, [](expr x) { return draw(x, 1); })).value();
  };
  const auto graph = make_flat_map(in, traced(in, inside)).value();
  std::set<std::string> all;
  for (const uint64_t first : {0, 3}) {
    const auto read = [&] {
      test::scripted_splits splits;
      splits.script = {{0, 0, split_range{first, 3}}};
      iterator_context context;
      context.splits = &splits;
      return read_all(*make_iterator(graph, context).value());
    };
    const auto rows = read();
    EXPECT_EQ(rows, read());
    all.insert(rows.begin(), rows.end());
  }
  EXPECT_EQ(all.size(), 12u);
}

TEST(ElementSeed, IsAnErrorWhereThereAreNoElements) {
  auto graph = make_from_tensors({random::element_seed(1).node()}, {}).value();
  EXPECT_EQ(make_iterator(graph, {}).status().message(),
            "random.element_seed: there are seeds for the elements of map, filter, take_while and "
            "scan only");
}

} // namespace
} // namespace headrace::detail
