#include "headrace/runtime/base/clock.hpp"
#include "tests/cluster/relayed_worker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <optional>

namespace headrace::detail::test {
namespace {

dataset read_together(const dataset& what, const std::string& dispatcher, const std::string& job) {
  return what.apply(distribute(
    {.processing_mode = sharding_policy::dynamic, .service = dispatcher, .job_name = job}));
}

/// A service of two workers.
struct two_workers {
  two_workers() { await_workers(dispatcher.address, 2); }
  server_process dispatcher = start_dispatcher();
  server_process first = start_worker(dispatcher.address);
  server_process second = start_worker(dispatcher.address);
};

/// The number of rows of a range of numbers that do not descend from the split of the same number.
size_t of_other_splits(const block& rows) {
  const auto& column = rows.columns.at(0);
  size_t wrong = 0;
  for (size_t i = 0; i < rows.rows; ++i) {
    const auto value = column.values<int64_t>()[static_cast<size_t>(column.first_value(i))];
    wrong += origin_of(rows.origins, i).split != static_cast<uint64_t>(value);
  }
  return wrong;
}

TEST(Dynamic, GivesTenMillionElementsOnceWhileAWorkerJoinsAndAConsumerPauses) {
  constexpr int64_t total = 10'000'000;
  auto dispatcher = start_dispatcher();
  std::vector<server_process> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(start_worker(dispatcher.address));
  await_workers(dispatcher.address, 3);
  const auto what = dataset::range(total);
  auto pausing = read_together(what, dispatcher.address, "both").iterate();
  auto steady = read_together(what, dispatcher.address, "both").iterate();
  once seen{total};
  size_t without_origins = 0;
  size_t looked_at = 0;
  size_t not_of_their_index = 0;
  const auto read = [&](dataset_iterator& from) -> size_t {
    auto rows = from.next_block();
    if (!rows)
      return 0;
    if (rows->origins.empty())
      without_origins += rows->rows;
    else if (looked_at < total / 100) // checking all rows would take longer than reading them
      looked_at += rows->rows, not_of_their_index += of_other_splits(*rows);
    return seen.add(*rows);
  };
  // The pausing consumer reads one block, and pauses until the steady consumer has read a third of
  // all rows. From then on the two read in turn.
  ASSERT_GT(read(pausing), 0u);
  size_t alone = 0;
  while (alone < total / 3) {
    const auto n = read(steady);
    ASSERT_GT(n, 0u) << "the end came after " << alone;
    alone += n;
  }
  relayed_worker fourth{dispatcher.address};
  // The consumers continue only when a link to the new worker exists, so that splits are left for
  // the new worker.
  ASSERT_TRUE(fourth.network->await_connections(1, patience));
  const auto before = fourth.network->forwarded(relay::direction::back);
  bool more = true;
  while (more) {
    const bool a = read(pausing) > 0;
    const bool b = read(steady) > 0;
    more = a || b;
  }
  EXPECT_EQ(seen.count(), static_cast<size_t>(total));
  EXPECT_EQ(seen.wrong(), 0u);
  EXPECT_EQ(seen.failed(), 0u);
  EXPECT_EQ(without_origins, 0u);
  EXPECT_GT(looked_at, 0u);
  EXPECT_EQ(not_of_their_index, 0u) << "a split is more than one index";
  EXPECT_GT(fourth.network->forwarded(relay::direction::back) - before, 8u * total / 1'000)
    << "the fourth worker gave hardly anything";
}

TEST(Dynamic, SharesOfConsumersDrivenInTurnDifferByLessThanATenth) {
  constexpr size_t total = 100'000;
  const two_workers service;
  const auto what = dataset::range(total);
  auto a = read_together(what, service.dispatcher.address, "shared").iterate();
  auto b = read_together(what, service.dispatcher.address, "shared").iterate();
  once seen{total};
  // Takes the next element. Returns false at the end.
  const auto take = [&](dataset_iterator& from) {
    auto x = from.next();
    EXPECT_TRUE(x) << to_string(x.status());
    if (!x || !x.value())
      return false;
    seen.add(x.value().value()[0].scalar<int64_t>());
    return true;
  };
  size_t of_a = 0;
  size_t of_b = 0;
  // When one consumer has read the end, the elements that are left for the other consumer belong to
  // the share of that other consumer.
  for (bool more_a = true, more_b = true; more_a || more_b;) {
    more_a = more_a && take(a);
    of_a += more_a;
    more_b = more_b && take(b);
    of_b += more_b;
  }
  const auto [smaller, larger] = std::minmax(of_a, of_b);
  EXPECT_LT(larger - smaller, larger / 10);
  EXPECT_EQ(of_a + of_b, total);
  EXPECT_EQ(seen.count(), total);
  EXPECT_EQ(seen.wrong(), 0u);
}

TEST(Dynamic, DrainingOneConsumerAndThenTheOtherEnds) {
  constexpr size_t total = 100'000;
  const two_workers service;
  const auto what = dataset::range(total);
  auto drained_last = read_together(what, service.dispatcher.address, "drained").iterate();
  once seen{total};
  // This consumer receives elements first, and gives back elements that its trainer has not taken.
  seen.add(drained_last.next().value().value()[0].scalar<int64_t>());
  auto drained_first = read_together(what, service.dispatcher.address, "drained").iterate();
  size_t of_first = 0;
  while (auto rows = drained_first.next_block()) of_first += seen.add(*rows);
  while (auto rows = drained_last.next_block()) seen.add(*rows);
  EXPECT_GT(of_first, 0u);
  EXPECT_EQ(seen.count(), total);
  EXPECT_EQ(seen.wrong(), 0u);
  EXPECT_EQ(seen.failed(), 0u);
}

/// Reads a dataset from two workers to its end, and kills one of the workers when a tenth of the
/// elements has come. Warnings about losses are appended to `warned`.
once read_while_a_worker_is_killed(const dataset& what, int64_t total, std::string& warned) {
  constexpr duration lease = std::chrono::seconds{1};
  auto dispatcher = start_dispatcher({"--heartbeat", "200ms", "--lease", "1s"});
  std::optional<server_process> victim{start_worker(dispatcher.address)};
  auto other = start_worker(dispatcher.address);
  await_workers(dispatcher.address, 2);
  auto it =
    read_together(what, dispatcher.address, {}).iterate({.warn = [&](const std::string& text) {
      warned += text;
    }});
  once seen{static_cast<size_t>(total)};
  bool killed = false;
  time_point killed_at;
  while (auto rows = it.next_block()) {
    seen.add(*rows);
    if (!killed && seen.count() > static_cast<size_t>(total) / 10) {
      victim->process.kill(SIGKILL);
      killed = true;
      killed_at = clock::system().now();
    }
  }
  // The bound is far more than the lease, and far less than `stall_timeout`, for which a trainer
  // waits if no element comes.
  EXPECT_LT(clock::system().now() - killed_at, lease + patience);
  EXPECT_TRUE(killed);
  EXPECT_EQ(seen.wrong(), 0u);
  EXPECT_EQ(seen.failed(), 0u);
  return seen;
}

TEST(Dynamic, LosesNothingWhenAWorkerIsKilledWhereASplitIsARow) {
  constexpr int64_t total = 1'000'000;
  std::string warned;
  const auto seen = read_while_a_worker_is_killed(dataset::range(total), total, warned);
  EXPECT_EQ(seen.count(), static_cast<size_t>(total));
  EXPECT_EQ(warned, "");
}

TEST(Dynamic, WarnsAtTheEndOfWhatAKilledWorkerTookWithIt) {
  constexpr int64_t total = 1'000'000;
  std::string warned;
  // Each worker's `take` counts only the rows of that worker, so another worker would not make the
  // same rows of a split: splits of the killed worker cannot be read again.
  const auto what = dataset::range(total).take(total);
  const auto seen = read_while_a_worker_is_killed(what, total, warned);
  EXPECT_THAT(warned, testing::HasSubstr("this epoch is incomplete: 1 worker was lost"));
  // Most elements come from the worker that is not killed.
  EXPECT_GT(seen.count(), static_cast<size_t>(total) / 2);
}

} // namespace
} // namespace headrace::detail::test
