#include "tests/cluster/processes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::detail::test {
namespace {

/// No lease expires in these tests: all elements come only because the worker leaves in order.
server_process dispatcher_of_long_leases() { return start_dispatcher({"--lease", "1h"}); }

distribute dynamic(const server_process& dispatcher, const std::string& job = {}) {
  return distribute(
    {.processing_mode = sharding_policy::dynamic, .service = dispatcher.address, .job_name = job});
}

/// Sends SIGTERM: the worker gives the elements of the splits that it has begun, and then ends.
void tell_to_leave(server_process& worker) { worker.process.kill(SIGTERM); }
/// Waits until the worker has ended in order. Sends no second signal, which would end it at once.
void expect_left(server_process& worker) {
  const auto code = worker.process.wait(patience);
  ASSERT_TRUE(code) << to_string(code.status());
  EXPECT_EQ(*code, process_end{}) << to_string(*code);
}
void leave(server_process& worker) {
  tell_to_leave(worker);
  expect_left(worker);
}

/// Reads a range to its end, and checks that each row came exactly once. As soon as more than
/// `after` rows have come, `then` is called.
template <class Then>
void expect_once(dataset_iterator from, size_t total, size_t after, Then&& then) {
  once seen{total};
  bool called = false;
  while (auto rows = from.next_block()) {
    seen.add(*rows);
    if (seen.count() > after && !std::exchange(called, true))
      then();
  }
  EXPECT_TRUE(called);
  EXPECT_EQ(seen.count(), total);
  EXPECT_EQ(seen.wrong(), 0u);
  EXPECT_EQ(seen.failed(), 0u);
}

TEST(Leaving, LosesAndRepeatsNothingOfOneConsumersJob) {
  constexpr int64_t total = 2'000'000;
  auto dispatcher = dispatcher_of_long_leases();
  auto leaves = start_worker(dispatcher.address);
  auto stays = start_worker(dispatcher.address);
  await_workers(dispatcher.address, 2);
  expect_once(dataset::range(total).apply(dynamic(dispatcher)).iterate(), total, total / 10,
              [&] { leave(leaves); });
}

TEST(Leaving, LosesAndRepeatsNothingOfASharedJobWithPassesAndBuffers) {
  constexpr int64_t total = 300'000;
  auto dispatcher = dispatcher_of_long_leases();
  auto leaves = start_worker(dispatcher.address, {"--drain", "30s"});
  auto stays = start_worker(dispatcher.address);
  await_workers(dispatcher.address, 2);
  const auto what = dataset::range(total).shuffle(1'000, {.seed = 7}).prefetch(4).repeat(2);
  auto a = what.apply(dynamic(dispatcher, "both")).iterate();
  auto b = what.apply(dynamic(dispatcher, "both")).iterate();
  std::vector<uint8_t> seen(total);
  size_t rows = 0;
  const auto read = [&](dataset_iterator& from) {
    auto some = from.next_block();
    if (!some)
      return false;
    EXPECT_TRUE(some->errors.empty());
    const auto& column = some->columns.at(0);
    for (auto x :
         column.values<int64_t>().subspan(static_cast<size_t>(column.first_value(0)), some->rows))
      ++seen.at(static_cast<size_t>(x));
    rows += some->rows;
    return true;
  };
  bool told = false;
  for (bool more = true; more;) {
    const bool from_a = read(a);
    const bool from_b = read(b);
    more = from_a || from_b;
    if (!told && rows > total / 10) {
      tell_to_leave(leaves); // both consumers continue reading
      told = true;
    }
  }
  expect_left(leaves);
  EXPECT_EQ(rows, 2u * total);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 2), total);
}

TEST(Leaving, LosesAndRepeatsNothingOfAJobWithSeveralSources) {
  constexpr int64_t each = 100'000;
  auto dispatcher = dispatcher_of_long_leases();
  auto stays = start_worker(dispatcher.address);
  // The sources end at different times. At the end of a source a task waits while the other task
  // has unread splits of that source, so the two tasks could wait for each other for ever.
  const auto what = dataset::sample_from_datasets(
    {dataset::range(each), dataset::range(each, 2 * each).batch(7).unbatch(),
     dataset::range(2 * each, 3 * each)},
    {.weights = {0.5, 0.3, 0.2}, .seed = 3});
  for (const int64_t left_at : {10, 60, 95, 99}) { // percent of all rows
    auto leaves = start_worker(dispatcher.address, {"--drain", "30s"});
    await_workers(dispatcher.address, 2);
    SCOPED_TRACE(left_at);
    expect_once(what.apply(dynamic(dispatcher)).iterate(), 3 * each, 3 * each / 100 * left_at,
                [&] { tell_to_leave(leaves); });
    expect_left(leaves);
  }
}

TEST(Leaving, OfTheOnlyWorkerLeavesTheRestToTheNextOne) {
  constexpr int64_t total = 2'000'000;
  auto dispatcher = dispatcher_of_long_leases();
  auto first = start_worker(dispatcher.address);
  await_workers(dispatcher.address, 1);
  std::optional<server_process> second;
  expect_once(dataset::range(total).apply(dynamic(dispatcher)).iterate(), total, total / 10, [&] {
    leave(first);
    second.emplace(start_worker(dispatcher.address));
  });
}

TEST(Leaving, IsNotHeldUpByATrainerThatPauses) {
  auto dispatcher = dispatcher_of_long_leases();
  auto leaves = start_worker(dispatcher.address);
  await_workers(dispatcher.address, 1);
  auto it = dataset::range(1'000'000'000).apply(dynamic(dispatcher)).iterate();
  ASSERT_TRUE(it.next_block());
  leave(leaves); // the exit code is 0, and not that of a worker that did not end in time
}

distribute two_at_a_time(const server_process& dispatcher) {
  return distribute({.processing_mode = sharding_policy::dynamic,
                     .service = dispatcher.address,
                     .max_outstanding_requests = 2});
}

TEST(Leaving, GivesWhatItHasBegunThroughABoundOnElements) {
  constexpr int64_t total = 20'000;
  auto dispatcher = dispatcher_of_long_leases();
  // The time limit of the drain is long: elements that the worker has not given by then would be
  // lost.
  auto leaves = start_worker(dispatcher.address, {"--drain", "30s"});
  auto stays = start_worker(dispatcher.address);
  await_workers(dispatcher.address, 2);
  expect_once(dataset::range(total).apply(two_at_a_time(dispatcher)).iterate(), total, total / 10,
              [&] { tell_to_leave(leaves); });
  expect_left(leaves);
}

TEST(Leaving, IsNotHeldUpByABoundOnElementsOfATrainerThatPauses) {
  auto dispatcher = dispatcher_of_long_leases();
  auto leaves = start_worker(dispatcher.address);
  await_workers(dispatcher.address, 1);
  auto it = dataset::range(1'000'000'000).apply(two_at_a_time(dispatcher)).iterate();
  ASSERT_TRUE(it.next_block());
  leave(leaves);
}

} // namespace
} // namespace headrace::detail::test
