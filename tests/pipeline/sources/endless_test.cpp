#include "tests/pipeline/sources/source_rows.hpp"

#include <algorithm>
#include <functional>
#include <gmock/gmock.h>
#include <set>

namespace headrace::detail {
namespace {

using test::always;
using test::read_all;
using test::rows_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

dataset_ptr first(const dataset_ptr& in, int64_t count) { return make_take(in, count).value(); }

/// A context in which the generator function 'doubled' has `count` rows. Row i consists of `2 * i`
/// and the text of i.
iterator_context doubling(int64_t count) {
  iterator_context out;
  out.find_function = [count](const function_reference& what) -> named_function {
    if (what.name != "doubled")
      return {};
    return [count](const block& in) -> result<block> {
      std::vector<int64_t> numbers;
      std::vector<std::string> words;
      for (auto i : in.columns[0].values<int64_t>())
        if (i < count) {
          numbers.push_back(2 * i);
          words.push_back(std::to_string(i));
        }
      std::vector<std::string_view> views{words.begin(), words.end()};
      block rows;
      rows.rows = numbers.size();
      rows.columns = {column::of_scalars(std::span<const int64_t>{numbers}),
                      column::of_strings(views)};
      return rows;
    };
  };
  return out;
}

element_spec number_and_word_spec() {
  return element_spec::tuple({tensor_spec{dtype::int64, {}}, tensor_spec{dtype::string, {}}});
}

TEST(Counter, CountsFromItsStartWithoutEnd) {
  auto graph = make_counter(5, -3).value();
  EXPECT_EQ(graph->cardinality, infinite_cardinality);
  EXPECT_THAT(rows_of(first(graph, 4)), ElementsAre("5", "2", "-1", "-4"));
  EXPECT_THAT(rows_of(graph, {}, 3), ElementsAre("5", "2", "-1"));
  EXPECT_THAT(rows_of(first(make_counter(INT64_MAX, 1).value(), 2)),
              ElementsAre("9223372036854775807", "-9223372036854775808"));
}

TEST(Counter, GivesTheRowsThatAreLeased) {
  test::scripted_splits splits;
  splits.script = {{0, 0, split_range{100, 2}}, {0, 0, split_range{7, 1}}};
  iterator_context context;
  context.splits = &splits;
  auto from = make_iterator(make_counter(0, 2).value(), context).value();
  EXPECT_THAT(read_all(*from), ElementsAre("200", "202", "14"));
}

TEST(Random, IsTheSameForASeedAndDiffersBetweenSeeds) {
  const auto numbers = [](uint64_t seed) {
    return rows_of(first(make_random(seed).value(), 1000));
  };
  const auto a = numbers(1);
  EXPECT_EQ(a, numbers(1));
  EXPECT_NE(a, numbers(2));
  EXPECT_GT(std::set<std::string>(a.begin(), a.end()).size(), 990u);
  for (const auto& x : a) ASSERT_LT(std::stoull(x), uint64_t{1} << 32);
}

TEST(Random, BeginsAnewInEachRepetitionOnlyIfAsked) {
  const auto halves = [](bool reseed) {
    auto in = first(make_random(3, reseed).value(), 20);
    auto rows = rows_of(make_repeat(in, 2).value());
    return std::pair{std::vector(rows.begin(), rows.begin() + 20),
                     std::vector(rows.begin() + 20, rows.end())};
  };
  auto [a, b] = halves(false);
  EXPECT_EQ(a, b);
  auto [c, d] = halves(true);
  EXPECT_NE(c, d);
}

TEST(Generator, GivesWhatItsFunctionMakesOfRowNumbers) {
  const auto context = doubling(1'000'000);
  EXPECT_THAT(rows_of(make_generator({"doubled"}, number_and_word_spec(), 3).value(), context),
              ElementsAre("0|'0'", "2|'1'", "4|'2'"));
}

TEST(Generator, EndsWhereItsFunctionDoes) {
  for (int64_t count : {0, 1, 20}) {
    const auto rows =
      rows_of(make_generator({"doubled"}, number_and_word_spec()).value(), doubling(count));
    EXPECT_EQ(static_cast<int64_t>(rows.size()), count);
  }
  auto twice = make_repeat(make_generator({"doubled"}, number_and_word_spec()).value(), 2).value();
  EXPECT_EQ(rows_of(twice, doubling(5)).size(), 10u);
}

TEST(Generator, TellsItsEndToWhoLeasesSplits) {
  test::scripted_splits splits;
  splits.script = {{0, 0, split_range{0, 4}}, {0, 0, split_range{4, 4}}};
  auto context = doubling(6);
  context.splits = &splits;
  auto from =
    make_iterator(make_generator({"doubled"}, number_and_word_spec()).value(), context).value();
  EXPECT_EQ(read_all(*from).size(), 6u);
  EXPECT_EQ(splits.log.back().total, 6u);
}

TEST(Generator, IsOneSplitWhereItMayGiveOthersInAnotherRun) {
  const auto graph = [](int64_t count) {
    return make_generator({"doubled"}, number_and_word_spec(), count, false).value();
  };
  for (int64_t count : {int64_t{-1}, int64_t{0}, int64_t{6}}) {
    test::scripted_splits splits;
    splits.script = {{0, 0, split_range{0, 1}}};
    auto context = doubling(count < 0 ? 6 : count);
    context.splits = &splits;
    const auto rows = read_all(*make_iterator(graph(count), context).value());
    EXPECT_EQ(rows.size(), count == 0 ? 0u : 6u);
    EXPECT_EQ(splits.log.back().total, 1u);
    splits.script = {{0, 0, split_answer{}}};
    EXPECT_THAT(read_all(*make_iterator(graph(count), context).value()), ElementsAre());
  }
  const auto twice = make_repeat(graph(-1), 2).value();
  EXPECT_EQ(rows_of(twice, doubling(5)).size(), 10u);
}

TEST(Generator, SaysWhatItsFunctionDidWrong) {
  auto graph = make_generator({"doubled"}, number_and_word_spec(), 10).value();
  EXPECT_THAT(read_all(*make_iterator(graph, doubling(6)).value(), always(100)),
              ElementsAre(AllOf(HasSubstr("failed_precondition: generator 'doubled'"),
                                HasSubstr("there must be 10 in all"))));
  auto other = make_generator({"doubled"}, tensor_spec{dtype::int64, {}}, 3).value();
  EXPECT_THAT(read_all(*make_iterator(other, doubling(6)).value()),
              ElementsAre(HasSubstr("it gave 3 rows of 2 components")));
  iterator_context nothing;
  EXPECT_THAT(to_string(make_iterator(graph, nothing).status()),
              HasSubstr("no function is registered as 'doubled'"));
}

/// A context in which 'doubled' has 10 rows, and fails in each call for which `fails` is true of
/// one of the rows.
iterator_context failing(std::function<bool(int64_t)> fails) {
  auto out = doubling(10);
  out.find_function = [good = out.find_function({"doubled"}),
                       fails = std::move(fails)](const function_reference&) -> named_function {
    return [good, fails](const block& in) -> result<block> {
      if (std::ranges::any_of(in.columns[0].values<int64_t>(), fails))
        return status{status_code::unknown, "its process died"};
      return good(in);
    };
  };
  return out;
}

TEST(Generator, FailsOnlyTheRowsForWhichItsFunctionFails) {
  auto graph = make_generator({"doubled"}, number_and_word_spec()).value();
  const auto rows = rows_of(graph, failing([](int64_t i) { return i == 3 || i == 7; }));
  ASSERT_EQ(rows.size(), 10u);
  for (size_t i = 0; i < rows.size(); ++i)
    EXPECT_THAT(rows[i], i == 3 || i == 7
                           ? HasSubstr("unknown: generator 'doubled': its process died")
                           : HasSubstr("|'" + std::to_string(i) + "'"));
  bool died = false;
  EXPECT_EQ(
    rows_of(graph, failing([&](int64_t i) { return i == 3 && !std::exchange(died, true); })),
    rows_of(graph, doubling(10)));
}

TEST(Generator, GivesTheRestBackIfItsFunctionFailsAgainAndAgain) {
  test::scripted_splits splits;
  splits.script = {{0, 0, split_range{0, 4}}, {0, 0, split_range{4, 40}}};
  auto context = failing([](int64_t i) { return i >= 6; });
  context.splits = &splits;
  auto from =
    make_iterator(make_generator({"doubled"}, number_and_word_spec()).value(), context).value();
  const auto rows = read_all(*from, always(100));
  ASSERT_EQ(rows.size(), 8u);
  EXPECT_THAT(rows[6], HasSubstr("died"));
  EXPECT_THAT(rows[7], HasSubstr("died"));
  // A failure of the function is not reported as the generator's end: other tasks may read on.
  for (const auto& asked : splits.log) EXPECT_FALSE(asked.total && *asked.total < 1000);
  EXPECT_THAT(splits.closed, ElementsAre(test::scripted_splits::closing{0, 0, {8, 36}}));
}

TEST(Generator, EndsAfterAFailureWhereItMayGiveOthersInAnotherRun) {
  auto graph = make_generator({"doubled"}, number_and_word_spec(), -1, false).value();
  const auto context = failing([](int64_t i) { return i == 3; });
  EXPECT_THAT(read_all(*make_iterator(graph, context).value()), ElementsAre(HasSubstr("died")));
}

} // namespace
} // namespace headrace::detail
