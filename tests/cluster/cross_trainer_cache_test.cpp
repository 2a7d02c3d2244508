#include "tests/cluster/processes.hpp"
#include "tests/support/scratch_directory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <map>
#include <optional>
#include <thread>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

/// Trainers in this process, which read from workers in other processes.
class CrossTrainerCache : public testing::Test {
protected:
  dataset_iterator trainer(const std::string& service, const std::string& id) const {
    return dataset::counter()
      .apply(distribute{{.processing_mode = sharding_policy::off,
                         .service = service,
                         .job_name = "shared",
                         .cross_trainer_cache = trainer_cache{.trainer_id = id}}})
      .iterate();
  }
  /// The window of the only task of the only job; null: the status does not have it yet.
  static const window_status* window_of(const service_status& x) {
    const auto known = !x.jobs.empty() && !x.jobs[0].tasks.empty() && x.jobs[0].tasks[0].window;
    return known ? &*x.jobs[0].tasks[0].window : nullptr;
  }
  static std::optional<int64_t> next(dataset_iterator& from) {
    auto out = from.next();
    if (!out || !*out)
      return {};
    return (**out)[0].scalar<int64_t>();
  }
};

TEST_F(CrossTrainerCache, EncodesEachBlockOnceHoweverManyTrainersReadIt) {
  auto dispatcher = start_dispatcher({"--heartbeat", "50ms"});
  auto worker = start_worker(dispatcher.address, {"--cross-trainer-cache-size", "64M"});
  await_workers(dispatcher.address, 1);
  const auto encoded_once = [&] {
    return shows(dispatcher.address, [](const service_status& x) {
      const auto* window = window_of(x);
      // A block is encoded when it is sent to a trainer. The newest block may not have been sent
      // yet, because no stream has credit for it.
      return window && window->budget == 64 << 20 && window->blocks > 1
             && window->encoded <= window->blocks && window->encoded + 1 >= window->blocks;
    });
  };
  const auto read = [&](int k) {
    std::vector<std::thread> threads;
    std::atomic<int> well{0};
    for (int i = 0; i < k; ++i)
      threads.emplace_back([&, i] {
        const auto id = std::to_string(i) + " of " + std::to_string(k);
        auto it = trainer(dispatcher.address, id);
        int64_t n = 0;
        while (n < 50'000 && next(it) == n) ++n;
        well += n == 50'000;
      });
    for (auto& x : threads) x.join();
    EXPECT_EQ(well, k);
  };
  read(1);
  EXPECT_TRUE(encoded_once());
  read(8);
  EXPECT_TRUE(encoded_once());
}

TEST_F(CrossTrainerCache, EncodesEachBlockOfAPassOnceForEachOfTwoEncodings) {
  auto dispatcher = start_dispatcher({"--heartbeat", "50ms"});
  auto worker = start_worker(dispatcher.address, {"--cross-trainer-cache-size", "64M"});
  await_workers(dispatcher.address, 1);
  constexpr int64_t elements = 100'000;
  constexpr int trainers = 8;
  // Each reader reads all elements but the last one. So each reader gets the last block, but none
  // reaches the end, at which the task would end.
  std::vector<dataset_iterator> readers;
  for (int i = 0; i < trainers; ++i)
    readers.push_back(
      dataset::range(elements)
        .apply(
          distribute{{.processing_mode = sharding_policy::off,
                      .service = dispatcher.address,
                      .job_name = "pass",
                      .compression = i % 2 == 0 ? compression::none : compression::snappy,
                      .cross_trainer_cache =
                        trainer_cache{.trainer_id = std::to_string(i),
                                      .terms = {.wait = 1min, .expected_trainers = trainers}}}})
        .iterate());
  std::vector<std::thread> threads;
  std::atomic<int> well{0};
  for (auto& reader : readers)
    threads.emplace_back([&] {
      int64_t n = 0;
      while (n + 1 < elements && next(reader) == n) ++n;
      well += n + 1 == elements;
    });
  for (auto& x : threads) x.join();
  EXPECT_EQ(well, trainers);
  EXPECT_TRUE(shows(dispatcher.address, [](const service_status& x) {
    const auto* window = window_of(x);
    return window && window->end == elements && window->encoded == 2 * window->blocks;
  }));
}

TEST_F(CrossTrainerCache, GoesOnWithADispatcherThatComesBack) {
  const scratch_directory work;
  const std::vector<std::string> kept{"--work-dir", work.path(), "--heartbeat",
                                      "100ms",      "--lease",   "1s"};
  std::optional dispatcher{start_dispatcher(kept)};
  const auto port = std::to_string(dispatcher->port());
  auto worker = start_worker(dispatcher->address);
  await_workers(dispatcher->address, 1);
  auto a = trainer(dispatcher->address, "a"), b = trainer(dispatcher->address, "b");
  for (int64_t i = 0; i < 1'000; ++i) ASSERT_EQ(next(a), i);
  for (int64_t i = 0; i < 500; ++i) ASSERT_EQ(next(b), i);
  dispatcher->process.kill(SIGKILL);
  for (int64_t i = 1'000; i < 2'000; ++i) ASSERT_EQ(next(a), i);
  auto again = kept;
  again.insert(again.end(), {"--port", port});
  const server_process back{"dispatcher", again};
  await_workers(back.address, 1);
  for (int64_t i = 2'000; i < 50'000; ++i) ASSERT_EQ(next(a), i);
  for (int64_t i = 500; i < 50'000; ++i) ASSERT_EQ(next(b), i);
  auto c = trainer(back.address, "c");
  EXPECT_EQ(next(c), 0);
}

TEST_F(CrossTrainerCache, BeginsANewWindowAfterAWorkerWasKilled) {
  auto dispatcher = start_dispatcher({"--heartbeat", "100ms", "--lease", "1s"});
  std::optional worker{start_worker(dispatcher.address)};
  await_workers(dispatcher.address, 1);
  auto a = trainer(dispatcher.address, "a"), b = trainer(dispatcher.address, "b");
  for (int64_t i = 0; i < 1'000; ++i) {
    ASSERT_EQ(next(a), i);
    ASSERT_EQ(next(b), i);
  }
  worker->process.kill(SIGKILL);
  const auto other = start_worker(dispatcher.address);
  for (auto* one : {&a, &b}) {
    // The elements that the first worker's task had sent arrive, too.
    for (int64_t before = 1'000, fresh = 0; fresh < 1'000;) {
      const auto x = next(*one);
      if (x == fresh)
        ++fresh;
      else
        ASSERT_EQ(x, before++);
    }
  }
}

} // namespace
} // namespace headrace::detail::test
