#include "headrace/pipeline/explain/operator_activity.hpp"

#include "tests/pipeline/support/rows.hpp"

#include <gmock/gmock.h>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using test::range;

constexpr uint64_t ms = 1'000'000;

/// batch(8) over range.
dataset_ptr batches() { return make_batch(range(0, 1'000), 8).value(); }

TEST(OperatorActivity, DividesTheTimeOfAnOperatorWhoseCallerRunsIt) {
  const operator_table table{batches()};
  auto before = table.read(), after = before;
  after[0] = {.rows = 10, .time_ns = 600 * ms, .below_ns = 400 * ms};
  after[1] = {.rows = 80, .time_ns = 400 * ms, .lease_ns = 100 * ms, .storage_ns = 50 * ms};
  const auto out = activity_between(table, before, after, 1s);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].name, "batch(8)");
  EXPECT_NEAR(out[0].shares.busy, 0.2, 1e-9);
  EXPECT_NEAR(out[0].shares.input, 0.4, 1e-9);
  EXPECT_NEAR(out[0].shares.output, 0.4, 1e-9);
  EXPECT_NEAR(out[1].shares.lease, 0.1, 1e-9);
  EXPECT_NEAR(out[1].shares.storage, 0.05, 1e-9);
  EXPECT_NEAR(out[1].shares.busy, 0.25, 1e-9);
  EXPECT_NEAR(out[1].shares.output, 0.6, 1e-9);
  EXPECT_DOUBLE_EQ(out[1].rows_per_second, 80);
}

TEST(OperatorActivity, DividesTheTimeOfAnOperatorWithThreadsOfItsOwn) {
  const operator_table table{batches()};
  auto before = table.read(), after = before;
  // The two calls of the operator have 2 s together in one second. They worked for 1.2 s of these,
  // and the operator's reader waited in `next` for 0.9 s.
  after[0] = {
    .time_ns = 900 * ms, .below_ns = 200 * ms, .work_ns = 1'200 * ms, .samples = 5, .calls = 2};
  auto out = activity_between(table, before, after, 1s)[0];
  EXPECT_NEAR(out.shares.busy, 0.6, 1e-9);
  EXPECT_NEAR(out.shares.output, 0.1, 1e-9);
  EXPECT_NEAR(out.shares.input, 0.2, 1e-9);
  EXPECT_NEAR(out.shares.queued, 0.1, 1e-9);
  after[0].memory_ns = 250 * ms;
  out = activity_between(table, before, after, 1s)[0];
  EXPECT_NEAR(out.shares.memory, 0.25, 1e-9);
  EXPECT_NEAR(out.shares.sum(), 1, 1e-9);
}

TEST(OperatorActivity, TakesCallsThatHaveNotReturnedForWork) {
  const operator_table table{batches()};
  const auto before = table.read();
  auto after = before;
  after[0] = {.time_ns = 1'000 * ms, .samples = 1, .calls = 2};
  EXPECT_NEAR(activity_between(table, before, after, 1s)[0].shares.busy, 1, 1e-9);
  after[0].calls = 0; // an operator that only reads ahead
  EXPECT_NEAR(activity_between(table, before, after, 1s)[0].shares.input, 1, 1e-9);
}

TEST(OperatorActivity, SumsUpToOneWhateverWasCounted) {
  const operator_table table{batches()};
  const auto before = table.read();
  for (const uint64_t x : {0 * ms, 300 * ms, 5'000 * ms})
    for (const uint64_t y : {0 * ms, 700 * ms, 9'000 * ms})
      for (const uint64_t samples : {0, 3}) {
        auto after = before;
        after[0] = {.time_ns = x,
                    .below_ns = y,
                    .work_ns = y,
                    .lease_ns = x,
                    .storage_ns = y,
                    .memory_ns = x,
                    .samples = samples};
        const auto shares = activity_between(table, before, after, 1s)[0].shares;
        EXPECT_NEAR(shares.sum(), 1, 1e-9);
        for (const auto part : {shares.busy, shares.input, shares.output, shares.lease,
                                shares.storage, shares.memory})
          EXPECT_GE(part, 0);
      }
}

TEST(OperatorActivity, IsThatOfTheLastSeconds) {
  const auto graph = batches();
  operator_table table{graph};
  operator_window window{table};
  EXPECT_TRUE(window.look(time_point{0s}).empty());
  auto& counted = *table.counters(*graph);
  counted.time_ns = 1'000 * ms; // busy for all of the first second
  EXPECT_NEAR(window.look(time_point{1s}).at(0).shares.busy, 1, 1e-9);
  for (int i = 2; i <= 10; ++i) static_cast<void>(window.look(time_point{1s * i}));
  EXPECT_NEAR(window.look(time_point{11s}).at(0).shares.busy, 0, 1e-9) << "that is long ago";
}

TEST(OperatorTable, CountsWhatItsGraphDoes) {
  const auto graph = batches();
  operator_table table{graph};
  iterator_context context;
  context.counters = [&](const dataset_node& node) { return table.counters(node); };
  auto rows = make_iterator(graph, context).value();
  size_t count = 0;
  while (const auto some = rows->next({.rows = 50})) count += some->rows;
  EXPECT_EQ(count, 125u);
  const auto seen = table.read();
  EXPECT_EQ(seen[0].rows, 125u);
  EXPECT_EQ(seen[1].rows, 1'000u);
  EXPECT_GE(seen[0].time_ns, seen[0].below_ns);
}

TEST(OperatorTable, CountsCallsThatHaveNotReturned) {
  const auto graph = batches();
  operator_table table{graph};
  auto &top = *table.counters(*graph), &below = *table.counters(*graph->inputs[0]);
  const auto ago = [now = clock::system().now()](duration x) {
    return (now - x).time_since_epoch().count();
  };
  top.thread = below.thread = std::this_thread::get_id();
  top.since_ns = ago(300ms);
  below.since_ns = ago(200ms);
  below.waits.since_ns = ago(100ms);
  below.waits.for_lease = true;
  const auto seen = table.read();
  EXPECT_GE(seen[0].time_ns, 300 * ms);
  EXPECT_GE(seen[0].below_ns, 200 * ms);
  EXPECT_LT(seen[0].below_ns, seen[0].time_ns);
  EXPECT_GE(seen[1].time_ns, 200 * ms);
  EXPECT_GE(seen[1].lease_ns, 100 * ms);
  EXPECT_EQ(seen[1].storage_ns, 0u);
}

} // namespace
} // namespace headrace::detail
