#include "tests/cluster/processes.hpp"
#include "tests/support/scratch_directory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <map>
#include <optional>
#include <thread>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

/// Trainers of this process, which read workers of others.
class CrossTrainerCache : public testing::Test {
protected:
  dataset_iterator trainer(const std::string& service, const std::string& id,
                           compression packing = compression::none) const {
    return dataset::counter()
      .apply(distribute{{.processing_mode = sharding_policy::off,
                         .service = service,
                         .job_name = "shared",
                         .compression = packing,
                         .cross_trainer_cache = trainer_cache{.trainer_id = id}}})
      .iterate();
  }
  static std::optional<int64_t> next(dataset_iterator& from) {
    auto out = from.next();
    if (!out || !*out)
      return {};
    return (**out)[0].scalar<int64_t>();
  }
};

TEST_F(CrossTrainerCache, EncodesEachBlockOnceForEachEncoding) {
  auto dispatcher = start_dispatcher({"--heartbeat", "50ms"});
  auto worker = start_worker(dispatcher.address, {"--cross-trainer-cache-size", "64M"});
  await_workers(dispatcher.address, 1);
  const auto encoded = [&](uint64_t encodings) {
    return shows(dispatcher.address, [&](const service_status& x) {
      if (x.jobs.empty() || x.jobs[0].tasks.empty() || !x.jobs[0].tasks[0].window)
        return false;
      const auto& window = *x.jobs[0].tasks[0].window;
      if (window.budget != 64 << 20 || window.blocks < 2
          || window.encoded > encodings * window.blocks)
        return false;
      // The newest block may wait for room with whom it was made for. Readers of the second
      // encoding do not come to all blocks that readers of the first one had requested in advance.
      return encodings == 1 ? window.encoded + 1 >= window.blocks : window.encoded > window.blocks;
    });
  };
  const auto read = [&](int k, compression packing) {
    std::vector<std::thread> threads;
    std::atomic<int> well{0};
    for (int i = 0; i < k; ++i)
      threads.emplace_back([&, i] {
        const auto id = std::to_string(i) + " of " + std::to_string(k);
        auto it = trainer(dispatcher.address, id + std::string{to_string(packing)}, packing);
        int64_t n = 0;
        while (n < 50'000 && next(it) == n) ++n;
        well += n == 50'000;
      });
    for (auto& x : threads) x.join();
    EXPECT_EQ(well, k);
  };
  read(1, compression::none);
  EXPECT_TRUE(encoded(1));
  read(8, compression::none);
  EXPECT_TRUE(encoded(1));
  read(8, compression::snappy);
  EXPECT_TRUE(encoded(2));
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
    // What the first had sent comes, too.
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
} // namespace headrace::test
