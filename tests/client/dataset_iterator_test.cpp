#include "headrace/headrace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <thread>

namespace headrace::detail {
namespace {

TEST(DatasetIterator, TakesWhatIsAtHandAndNothingElse) {
  auto reading = dataset::range(5).map([](expr x) { return 10 / (x - 3); }).iterate();
  const status* failed = nullptr;
  element at;
  EXPECT_FALSE(reading.take(at, failed)); // nothing was fetched yet
  std::vector<int64_t> seen;
  size_t failures = 0;
  for (;;) {
    if (!reading.take(at, failed)) {
      auto next = reading.next();
      if (!next) {
        ++failures;
        continue;
      }
      if (!*next)
        break;
      at = **next;
    } else if (failed) {
      ++failures;
      continue;
    }
    seen.push_back(at[0].scalar<int64_t>());
  }
  EXPECT_EQ(seen, (std::vector<int64_t>{-3, -5, -10, 10}));
  EXPECT_EQ(failures, 1U);
  EXPECT_FALSE(reading.take(at, failed)); // the iteration is over
}

TEST(DatasetIterator, CountsWhatIgnoreErrorsLeftOut) {
  const auto failing = dataset::range(100).map([](expr x) { return 6 / (x % 5); }, {.calls = 2});
  auto plain = failing.iterate();
  while (plain.next_block()) {
  }
  EXPECT_EQ(plain.ignored(), 0U);
  // Failures are also counted in datasets inside functions, and for elements that are read ahead.
  const auto inner = [](expr x) {
    return dataset::range(x).map([](expr y) { return 6 / y; }).ignore_errors();
  };
  auto reading =
    failing.ignore_errors().concatenate(dataset::range(3).flat_map(inner)).prefetch(2).iterate();
  EXPECT_EQ(reading.ignored(), 0U);
  while (reading.next_block()) {
  }
  EXPECT_EQ(reading.ignored(), 22U);
}

TEST(DatasetIterator, GivesEachElementOnceToCallsOfNextAndNextBlockInTurn) {
  local_cluster cluster{{.workers = 1}};
  constexpr int64_t total = 100'000;
  for (const auto& data : {dataset::range(total), dataset::range(total).apply(
                                                    distribute({.service = cluster.target()}))}) {
    auto reading = data.iterate();
    int64_t expected = 0;
    for (bool more = true; more;) {
      for (int i = 0; i < 3; ++i)
        if (const auto one = reading.next().value()) {
          ASSERT_EQ((*one)[0].scalar<int64_t>(), expected);
          ++expected;
        }
      const auto rows = reading.next_block();
      more = rows.has_value();
      if (more) {
        for (auto x : rows->columns[0].values<int64_t>()) ASSERT_EQ(x, expected++);
      }
    }
    EXPECT_EQ(expected, total);
  }
}

TEST(DatasetIterator, WaitTakesNothing) {
  local_cluster cluster{{.workers = 1}};
  const auto data = dataset::range(100).apply(distribute(
    {.processing_mode = sharding_policy::dynamic, .service = cluster.target(), .job_name = "j"}));
  const auto ready = dataset_iterator::outcome::ready;
  {
    auto leaves = data.iterate();
    while (leaves.wait(std::chrono::seconds{1}) != ready) {
    }
    EXPECT_EQ(leaves.wait(std::chrono::seconds{1}), ready) << "the element is there still";
  }
  auto reading = data.iterate();
  std::vector<int64_t> seen;
  element at;
  const status* failed = nullptr;
  for (auto is = ready; is != dataset_iterator::outcome::over;
       is = reading.wait(std::chrono::seconds{1}))
    while (reading.take(at, failed)) seen.push_back(at[0].scalar<int64_t>());
  std::ranges::sort(seen);
  std::vector<int64_t> all(100);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(seen, all);
}

TEST(DatasetIterator, StopEndsAWaitInAnotherThread) {
  local_cluster nobody{{.workers = 0}};
  auto reading = dataset::range(5).apply(distribute({.service = nobody.target()})).iterate();
  std::jthread stopper{[&] { reading.stop(); }};
  auto next = reading.next();
  EXPECT_TRUE(!next || !*next);
}

} // namespace
} // namespace headrace::detail
