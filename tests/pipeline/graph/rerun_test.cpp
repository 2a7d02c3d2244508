#include "headrace/pipeline/graph/rerun.hpp"

#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using test::range;
using test::traced;

constexpr broken_run at_its_start{};
constexpr broken_run half_way{.gave_rows = true};
constexpr broken_run half_way_sharing{.gave_rows = true, .shares = true};
constexpr broken_run at_its_start_sharing{.shares = true};

dataset_ptr same(const dataset_ptr& input, int64_t parallel, std::optional<bool> deterministic) {
  return make_map(input, traced(input, [](expr x) { return x; }), parallel, deterministic).value();
}
dataset_ptr with(graph_options options, const dataset_ptr& input) {
  return make_options(input, std::move(options)).value();
}
dataset_ptr served(const dataset_ptr& input, const std::string& job = {}) {
  return make_distribute(
           input,
           {.address = "host:1", .processing_mode = sharding_policy::dynamic, .job_name = job})
    .value();
}
/// A flat_map over three numbers whose function returns `make(range(0, 2))`.
template <class F>
dataset_ptr flat_map_of(F make) {
  auto numbers = range(0, 3);
  return make_flat_map(numbers, traced(numbers, [&](expr) { return make(range(0, 2)); })).value();
}

TEST(Rerun, TakesUpWhatGivesTheSameAgain) {
  auto shuffled = make_shuffle(same(range(0, 9), 4, {}), 5).value();
  auto kept = make_cache(make_repeat(shuffled, 2).value()).value();
  EXPECT_EQ(can_run_again(*make_prefetch(kept, -1).value(), half_way_sharing), status{});
  EXPECT_EQ(can_run_again(*same(with({.deterministic = false}, range(0, 9)), 4, true), half_way),
            status{})
    << "the operator's own word goes before the graph's";
}

TEST(Rerun, TakesUpAMapWithoutParallelCalls) {
  auto named = std::make_shared<function>();
  named->named = {"f"};
  named->argument = named->declared = range(0, 9)->spec;
  for (const auto& graph :
       {with({.deterministic = false}, same(range(0, 9), 0, {})),
        with({.deterministic = false, .autotune = false}, same(range(0, 9), 0, {})),
        with({.deterministic = false, .threads = 1}, same(range(0, 9), 0, {})),
        with({.deterministic = false}, make_map(range(0, 9), named).value()),
        with({.deterministic = false}, flat_map_of([](const auto& x) { return same(x, 0, {}); }))})
    EXPECT_EQ(can_run_again(*graph, half_way), status{});
}

TEST(Rerun, DoesNotTakeUpWhatGivesRowsInAnyOrder) {
  auto numbers = range(0, 9);
  auto even = traced(numbers, [](expr x) { return x % 2 == 0; });
  auto twice = traced(numbers, [](expr) { return range(0, 2); });
  for (const auto& graph :
       {same(numbers, 4, false), with({.deterministic = false}, same(numbers, -1, {})),
        make_filter(numbers, even, 2, false).value(),
        make_interleave(numbers, twice, 2, 1, 2, false).value(),
        flat_map_of([](const auto& x) { return same(x, 4, false); })}) {
    const auto how = can_run_again(*make_batch(graph, 2).value(), half_way);
    EXPECT_EQ(how.code(), status_code::failed_precondition);
    EXPECT_NE(how.message().find("with deterministic = true"), std::string::npos) << to_string(how);
    EXPECT_EQ(can_run_again(*graph, at_its_start_sharing), status{}) << "nothing was given";
  }
  EXPECT_EQ(can_run_again(*same(numbers, 4, false), half_way).message(),
            "the run broke off and cannot be taken up again: map gives rows as they are done; with "
            "deterministic = true it can");
}

TEST(Rerun, DoesNotTakeUpWhatReadsFromAnotherJob) {
  for (const auto& graph :
       {served(range(0, 9)), flat_map_of([](const auto& x) { return served(x); })}) {
    for (const auto& run : {half_way, half_way_sharing})
      EXPECT_NE(can_run_again(*graph, run).message().find("without a distribute"),
                std::string::npos);
    EXPECT_EQ(can_run_again(*graph, at_its_start), status{}) << "it begins another job";
  }
}

TEST(Rerun, DoesNotTakeUpWhatHasTakenFromAJobThatOthersRead) {
  EXPECT_FALSE(can_run_again(*served(range(0, 9)), at_its_start_sharing));
  EXPECT_FALSE(can_run_again(*served(range(0, 9), "named"), at_its_start));
  EXPECT_EQ(
    can_run_again(*flat_map_of([](const auto& x) { return served(x); }), at_its_start_sharing),
    status{})
    << "those in functions are the task's alone";
}

TEST(Rerun, DoesNotTakeUpWhatMayFindAnothersRowsInAFolder) {
  for (const auto& graph :
       {make_cache(range(0, 9), "folder").value(), make_snapshot(range(0, 9), "folder").value()}) {
    EXPECT_NE(can_run_again(*graph, half_way).message().find("'folder'"), std::string::npos);
    EXPECT_EQ(can_run_again(*graph, at_its_start_sharing), status{});
  }
}

TEST(Rerun, MindsWhatRunsInAServiceNot) {
  auto there = served(same(range(0, 9), 4, false));
  EXPECT_EQ(can_run_again(*there, at_its_start), status{});
  EXPECT_NE(can_run_again(*there, half_way).message().find("distribute reads"), std::string::npos);
}

} // namespace
} // namespace headrace::detail
