#include "tests/client/support/own_cluster.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <thread>

namespace headrace::detail::test {
namespace {

/// Kills some of the jobs' actors at random moments of their short lives.
class killer {
public:
  killer(lives& jobs, uint64_t seed) : jobs_(jobs), random_(seed), thread_([this] { run(); }) {}
  ~killer() {
    jobs_.close();
    thread_.join();
  }

private:
  void run() {
    while (auto job = jobs_.next()) {
      if (random_() % 10 < 3)
        continue;
      // The random delay may end before the actor's first message, between two messages, or after
      // the last one.
      for (auto spin = random_() % (1u << (random_() % 16)); spin != 0; --spin)
        std::this_thread::yield();
      lives::kill(job);
    }
  }

  lives& jobs_;
  std::mt19937_64 random_;
  std::thread thread_;
};

struct outcome {
  std::vector<int64_t> seen;
  status how;
};

outcome read_outcome(const dataset& from) {
  outcome out;
  auto it = from.iterate();
  for (;;) {
    auto rows = it.next_block();
    if (!rows)
      return out;
    if (!rows->errors.empty()) {
      out.how = rows->errors[0].why;
      return out;
    }
    add_all(out.seen, *rows);
  }
}

void expect_whole_or_failed(const outcome& got, int64_t n, uint64_t seed) {
  if (!got.how.ok()) {
    EXPECT_NE(got.how.message().find("failed after 3 restarts within 60 s: cancelled: killed"),
              std::string::npos)
      << to_string(got.how) << ", seed " << seed;
    return;
  }
  std::vector<int64_t> all(static_cast<size_t>(n));
  std::iota(all.begin(), all.end(), int64_t{0});
  EXPECT_EQ(sorted(got.seen), all) << "seed " << seed;
}

TEST(JobDeath, AtAnyMomentLeavesEachConsumerItsElementsOnceOrTheJobsOwnFailure) {
  const auto seed = std::random_device{}();
  constexpr int64_t total = 2'000;
  constexpr int consumers = 4;
  constexpr int rounds = 20;
  size_t whole = 0;
  test_dispatcher cluster;
  test_worker one{cluster.target()};
  test_worker two{cluster.target()};
  cluster.await_workers(2);
  const auto from = dataset::range(total).apply(
    distribute{{.processing_mode = sharding_policy::dynamic, .service = cluster.target()}});
  {
    killer kills{cluster.jobs, seed};
    for (int round = 0; round < rounds; ++round) {
      std::vector<outcome> got(consumers);
      {
        std::vector<std::jthread> threads;
        for (auto& to : got) threads.emplace_back([&] { to = read_outcome(from); });
      }
      for (const auto& one_got : got) {
        expect_whole_or_failed(one_got, total, seed);
        whole += one_got.how.ok();
      }
    }
  }
  EXPECT_GT(whole, 0u) << "seed " << seed;
}

} // namespace
} // namespace headrace::detail::test
