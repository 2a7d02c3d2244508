#include "headrace/client/headrace.hpp"
#include "headrace/client/internal/service_node.hpp"
#include "headrace/runtime/link/link_metrics.hpp"
#include "headrace/runtime/node/node.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

namespace headrace::detail {
namespace {

distribute over(const local_cluster& cluster, sharding_policy mode, const std::string& job = {}) {
  return distribute{{.processing_mode = mode, .service = cluster.target(), .job_name = job}};
}

/// All int64 values of the elements' first component, sorted.
std::vector<int64_t> sorted_values(const dataset& from) {
  std::vector<int64_t> out;
  for (const element& x : from)
    for (auto value : x[0].as<int64_t>()) out.push_back(value);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<int64_t> numbers_between(int64_t first, int64_t last) {
  std::vector<int64_t> out(static_cast<size_t>(last - first));
  std::iota(out.begin(), out.end(), first);
  return out;
}

TEST(LocalCluster, DynamicGivesEachElementOnceThroughMapAndBatch) {
  local_cluster cluster{{.workers = 2}};
  auto read = dataset::range(10'000)
                .map([](expr x) { return x + 5; })
                .batch(7)
                .apply(over(cluster, sharding_policy::dynamic));
  EXPECT_EQ(sorted_values(read), numbers_between(5, 10'005));
}

TEST(LocalCluster, IsReadWithoutSockets) {
  auto here = node::process(service_node(node_role::consumer)).value();
  local_cluster cluster{{.workers = 2}};
  for (auto mode : {sharding_policy::off, sharding_policy::dynamic})
    EXPECT_FALSE(sorted_values(dataset::range(1'000).apply(over(cluster, mode))).empty());
  EXPECT_EQ(here->links().metrics().count(link_metric::connected), 0u);
}

TEST(LocalCluster, LosesNothingWhenAWorkerIsStoppedInMidJob) {
  // No lease expires in this test.
  local_cluster cluster{{.workers = 2, .lease = std::chrono::hours{1}}};
  constexpr int64_t total = 1'000'000;
  auto it = dataset::range(total).apply(over(cluster, sharding_policy::dynamic)).iterate();
  std::vector<uint8_t> seen(total);
  size_t rows = 0;
  bool stopped = false;
  while (auto some = it.next_block()) {
    ASSERT_TRUE(some->errors.empty()) << to_string(some->errors[0].why);
    for (auto x : some->columns[0].values<int64_t>().subspan(
           static_cast<size_t>(some->columns[0].first_value(0)), some->rows))
      ASSERT_EQ(++seen.at(static_cast<size_t>(x)), 1) << x;
    rows += some->rows;
    if (!std::exchange(stopped, true))
      cluster.stop_worker(0);
  }
  EXPECT_EQ(rows, seen.size());
}

TEST(LocalCluster, TheEndOfTheServiceEndsADrainThatNobodyReads) {
  std::promise<void> leaving;
  auto log = logger::open({.sink = [&](std::string_view line) {
    if (line.find("leaving") != std::string_view::npos)
      leaving.set_value();
  }});
  ASSERT_TRUE(log);
  local_cluster cluster{{.workers = 1, .drain = std::chrono::hours{1}, .log = *log}};
  auto it = dataset::range(1'000'000'000).apply(over(cluster, sharding_policy::dynamic)).iterate();
  ASSERT_TRUE(it.next_block());
  std::jthread stops{[&] { cluster.stop_worker(0); }};
  leaving.get_future().wait();
  cluster.end_at_once();
}

TEST(LocalCluster, OffEndsACopyWithItsWorker) {
  local_cluster cluster{{.workers = 2, .lease = std::chrono::hours{1}}};
  constexpr int64_t total = 1'000'000;
  auto it = dataset::range(total).apply(over(cluster, sharding_policy::off)).iterate();
  size_t rows = 0;
  while (auto some = it.next_block()) {
    if (rows == 0)
      cluster.stop_worker(0);
    rows += some->rows;
  }
  EXPECT_GE(rows, static_cast<size_t>(total));
  EXPECT_LT(rows, static_cast<size_t>(2 * total));
}

TEST(LocalCluster, OffIsNotOverWhenNoWorkerGaveAWholeCopy) {
  local_cluster cluster{{.workers = 1, .lease = std::chrono::hours{1}}};
  constexpr int64_t total = 10'000'000;
  const auto rows = [&](duration timeout, auto with_the_first) {
    auto it = dataset::range(total)
                .apply(distribute{{.processing_mode = sharding_policy::off,
                                   .service = cluster.target(),
                                   .worker_timeout = timeout}})
                .iterate();
    std::pair<size_t, status> out;
    while (auto some = it.next_block()) {
      if (out.first == 0)
        with_the_first();
      out.first += some->rows;
      if (!some->errors.empty())
        out.second = some->errors[0].why;
    }
    return out;
  };
  const auto [all, well] = rows(std::chrono::minutes{1}, [&] {
    cluster.add_worker();
    cluster.stop_worker(0);
  });
  EXPECT_GE(all, static_cast<size_t>(total));
  EXPECT_EQ(well, status{});
  const auto none = rows(std::chrono::milliseconds{500}, [&] { cluster.stop_worker(1); }).second;
  EXPECT_EQ(none.code(), status_code::unavailable) << to_string(none);
}

TEST(LocalCluster, OffGivesOneCopyPerWorker) {
  local_cluster cluster{{.workers = 3}};
  auto expected = numbers_between(0, 500);
  for (int copy = 1; copy < 3; ++copy)
    expected.insert(expected.end(), expected.begin(), expected.begin() + 500);
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(sorted_values(dataset::range(500).apply(over(cluster, sharding_policy::off))),
            expected);
}

TEST(LocalCluster, SharesOfConsumersDrivenInTurnDifferByLessThanATenth) {
  constexpr size_t total = 100'000;
  local_cluster cluster{{.workers = 2}};
  auto shared = dataset::range(total).apply(over(cluster, sharding_policy::dynamic, "shared"));
  auto other = dataset::range(total).apply(over(cluster, sharding_policy::dynamic, "shared"));
  auto a = shared.iterate();
  auto b = other.iterate();
  std::vector<uint8_t> seen(total);
  size_t taken[2] = {0, 0};
  // Takes the next element. Returns false at the end.
  const auto take = [&](dataset_iterator& from, size_t& count) {
    auto x = from.next();
    if (!x || !x.value())
      return false;
    ++seen.at(static_cast<size_t>(x.value()->operator[](0).scalar<int64_t>()));
    ++count;
    return true;
  };
  bool more_a = true, more_b = true;
  while (more_a && more_b) {
    more_a = take(a, taken[0]);
    more_b = more_a && take(b, taken[1]);
  }
  // After one reader has read the end, the other reader may still hold elements. They count in the
  // share of the reader that holds them.
  while (take(a, taken[0])) {
  }
  while (take(b, taken[1])) {
  }
  const auto [smaller, larger] = std::minmax(taken[0], taken[1]);
  EXPECT_LT(larger - smaller, larger / 10);
  EXPECT_EQ(taken[0] + taken[1], total);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<long>(total));
}

TEST(LocalCluster, DrainingOneConsumerAndThenTheOtherEnds) {
  local_cluster cluster{{.workers = 2}};
  auto a = dataset::range(20'000).apply(over(cluster, sharding_policy::dynamic, "drained"));
  auto b = dataset::range(20'000).apply(over(cluster, sharding_policy::dynamic, "drained"));
  auto second = b.iterate();
  // The iterator of `b` receives elements before the iterator of `a` starts, and later gives back
  // the elements that it has not handed out.
  std::vector<int64_t> all{second.next().value().value()[0].scalar<int64_t>()};
  for (auto value : sorted_values(a)) all.push_back(value);
  while (auto rows = second.next_block()) {
    const auto values = rows->columns[0].values<int64_t>().subspan(
      static_cast<size_t>(rows->columns[0].first_value(0)), rows->rows);
    all.insert(all.end(), values.begin(), values.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, numbers_between(0, 20'000));
}

TEST(LocalCluster, EachNewIterationOfANamedJobGivesAllAgain) {
  local_cluster cluster{{.workers = 2}};
  auto read = dataset::range(1'000).apply(over(cluster, sharding_policy::dynamic, "epochs"));
  for (int epoch = 0; epoch < 5; ++epoch) {
    SCOPED_TRACE(epoch);
    EXPECT_EQ(sorted_values(read), numbers_between(0, 1'000));
  }
}

TEST(LocalCluster, AnInfiniteDatasetCanBeLeft) {
  local_cluster cluster{{.workers = 2}};
  {
    auto it = dataset::range(100).repeat().apply(over(cluster, sharding_policy::dynamic)).iterate();
    for (int i = 0; i < 5'000; ++i) {
      auto x = it.next();
      ASSERT_TRUE(x) << to_string(x.status());
      ASSERT_TRUE(x.value()) << "ended after " << i;
    }
  }
  EXPECT_EQ(sorted_values(dataset::range(10).apply(over(cluster, sharding_policy::dynamic))),
            numbers_between(0, 10))
    << "the workers do not serve the next job";
}

TEST(LocalCluster, ZipUnderDynamicKeepsPairs) {
  local_cluster cluster{{.workers = 2}};
  auto pairs = dataset::zip({dataset::range(3'000), dataset::range(7'000, 10'000)});
  std::vector<int64_t> first;
  for (const element& x : pairs.apply(over(cluster, sharding_policy::dynamic))) {
    first.push_back(x[0].scalar<int64_t>());
    ASSERT_EQ(x[1].scalar<int64_t>(), first.back() + 7'000);
  }
  std::sort(first.begin(), first.end());
  EXPECT_EQ(first, numbers_between(0, 3'000));
}

TEST(LocalCluster, SeveralSourcesUnderDynamicGiveEachElementOnce) {
  local_cluster cluster{{.workers = 2}};
  auto read = dataset::range(4'000)
                .concatenate(dataset::range(4'000, 5'000))
                .concatenate(dataset::range(5'000, 9'000))
                .apply(over(cluster, sharding_policy::dynamic));
  EXPECT_EQ(sorted_values(read), numbers_between(0, 9'000));
}

TEST(LocalCluster, ReadsARegisteredDatasetByItsId) {
  local_cluster cluster{{.workers = 2}};
  auto what = dataset::range(300).map([](expr x) { return x * 2; });
  const auto id = register_dataset(cluster.target(), what, "doubles");
  EXPECT_EQ(id, "doubles");
  EXPECT_EQ(register_dataset(cluster.target(), what, "doubles"), "doubles");
  auto read =
    from_dataset_id({.processing_mode = sharding_policy::dynamic, .service = cluster.target()}, id);
  std::vector<int64_t> expected;
  for (int64_t i = 0; i < 300; ++i) expected.push_back(2 * i);
  EXPECT_EQ(sorted_values(read), expected);
}

TEST(LocalCluster, AHundredShortJobsInTurn) {
  local_cluster cluster{{.workers = 2}};
  for (int64_t job = 0; job < 100; ++job) {
    auto read = dataset::range(job, job + 20).apply(over(cluster, sharding_policy::dynamic));
    ASSERT_EQ(sorted_values(read), numbers_between(job, job + 20)) << "job " << job;
  }
}

TEST(LocalCluster, CarriesSingleElementsOf64MiB) {
  constexpr int64_t values = int64_t{64} << 20 >> 3;
  local_cluster cluster{{.workers = 1}};
  auto read = dataset::range(3)
                .map([](expr x) { return fill({values}, x); })
                .apply(over(cluster, sharding_policy::dynamic));
  std::vector<int64_t> seen;
  for (const element& x : read) {
    const auto all = x[0].as<int64_t>();
    ASSERT_EQ(all.size(), static_cast<size_t>(values));
    EXPECT_TRUE(std::all_of(all.begin(), all.end(), [&](auto v) { return v == all[0]; }));
    seen.push_back(all[0]);
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, numbers_between(0, 3));
}

} // namespace
} // namespace headrace::detail
