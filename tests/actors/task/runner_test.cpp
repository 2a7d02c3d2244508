#include "headrace/actors/task/runner.hpp"
#include "headrace/pipeline/functions/trace.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <system_error>

using namespace std::chrono_literals;

namespace headrace::detail {
namespace {

/// Records the calls of a runner's callbacks, so that the test's thread can wait for them.
class hearing {
public:
  runner::callbacks callbacks() {
    return {
      .produced =
        [this](block rows, duration) {
          note([&] { produced += rows.rows; });
          return size_t{0};
        },
      .wants_splits =
        [this](const splits_wish& wish) {
          note([&] {
            (wish.closes ? closed : asked).push_back(wish.which);
            if (wish.closes)
              rest = wish.closes->rest;
          });
        },
      .ended = [this](status how) { note([&] { end = how, over = true; }); },
      .crashed = [this](status why) { note([&] { crash = why, over = true; }); },
    };
  }
  template <class Predicate>
  ::testing::AssertionResult wait(Predicate done) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, 60s, done) ? ::testing::AssertionSuccess()
                                              : ::testing::AssertionFailure() << "timed out";
  }
  uint64_t produced = 0;
  std::vector<split_question> asked, closed;
  split_range rest; ///< the unread splits of the pass that was closed last
  status end, crash;
  bool over = false;

private:
  template <class F>
  void note(F&& f) {
    std::lock_guard lock{mutex_};
    f();
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
};

dataset_ptr numbers(int64_t n) { return make_range(0, n, 1).value(); }

dataset_ptr through_f(dataset_ptr in) {
  auto body = std::make_shared<function>();
  body->named = {"f"};
  body->argument = body->declared = in->spec;
  return make_map(std::move(in), body).value();
}

TEST(Runner, GivesAllRowsAndEnds) {
  hearing heard;
  runner x{{.graph = numbers(1'000)}};
  x.start(heard.callbacks());
  ASSERT_TRUE(heard.wait([&] { return heard.over; }));
  EXPECT_EQ(heard.produced, 1'000u);
  EXPECT_TRUE(heard.end.ok());
  EXPECT_TRUE(heard.crash.ok());
}

TEST(Runner, SaysWhatItIsDoneWithAsFarAsNothingOfItIsHeld) {
  hearing heard;
  std::mutex mutex;
  std::vector<std::pair<uint64_t, std::vector<splits_done>>> said;
  auto callbacks = heard.callbacks();
  callbacks.done = [&](uint64_t rows, std::vector<splits_done> splits) {
    std::lock_guard lock{mutex};
    said.emplace_back(rows, std::move(splits));
  };
  runner x{{.graph = numbers(100), .leases_splits = true, .says_done = true}};
  x.start(std::move(callbacks));
  ASSERT_TRUE(heard.wait([&] { return heard.asked.size() == 1; }));
  x.give_splits(heard.asked[0], lease_answer{split_range{10, 8}});
  ASSERT_TRUE(heard.wait([&] { return heard.asked.size() == 2; }));
  std::lock_guard lock{mutex};
  ASSERT_FALSE(said.empty()) << "with the first rows";
  const auto& [rows, splits] = said.front();
  ASSERT_EQ(splits.size(), 1u);
  EXPECT_EQ(rows, *splits[0].split - 10 + (splits[0].through ? 1 : 0));
}

TEST(Runner, TellsOfWhatNoOperatorCaught) {
  hearing heard;
  runner x{{.graph = through_f(numbers(10)), .find_function = [](const function_reference&) {
              return [](const block&) -> result<block> { throw 7; };
            }}};
  x.start(heard.callbacks());
  ASSERT_TRUE(heard.wait([&] { return heard.over; }));
  EXPECT_EQ(heard.crash.code(), status_code::internal);
}

TEST(Runner, CountsWhatItsPipelineLeavesOutOnlyPastWhatAnEarlierOneCounted) {
  const auto in = numbers(30);
  const auto fails =
    std::make_shared<const function>(trace(in->spec, [](expr x) { return 6 / (x % 3); }));
  const auto graph = make_ignore_errors(make_map(in, fails).value()).value();
  for (const auto& [before, after] : {std::pair{0u, 10u}, {4u, 10u}, {17u, 17u}}) {
    hearing heard;
    const auto count = std::make_shared<std::atomic<uint64_t>>(before);
    runner x{{.graph = graph, .ignored = count}};
    x.start(heard.callbacks());
    ASSERT_TRUE(heard.wait([&] { return heard.over; }));
    EXPECT_EQ(heard.produced, 20u);
    EXPECT_EQ(*count, after);
  }
}

TEST(Runner, SaysWhyAPipelineCannotBeMade) {
  hearing heard;
  runner x{{.graph = through_f(numbers(10))}};
  x.start(heard.callbacks());
  ASSERT_TRUE(heard.wait([&] { return heard.over; }));
  EXPECT_EQ(heard.end.code(), status_code::not_found);
}

TEST(Runner, AsksOnlyWhatItsTaskHasNotBeenAnswered) {
  hearing heard;
  split_log known;
  known.add({0, 0, 0}, split_range{0, 4});
  known.add({0, 0, 1}, split_range{7, 2});
  runner x{
    {.graph = numbers(10), .leases_splits = true, .replay = std::move(known), .skip_rows = 5}};
  x.start(heard.callbacks());
  ASSERT_TRUE(heard.wait([&] { return !heard.asked.empty(); }));
  EXPECT_EQ(heard.asked, (std::vector<split_question>{{0, 0, 2}}));
  EXPECT_EQ(heard.produced, 1u);
  x.give_splits({0, 0, 2}, lease_answer{});
  ASSERT_TRUE(heard.wait([&] { return heard.over; }));
}

TEST(Runner, LetsTwoSourcesAskAtOnceAndGivesEachItsAnswer) {
  hearing heard;
  auto graph = make_zip({make_prefetch(numbers(100), 4).value(),
                         make_prefetch(make_shuffle(numbers(100), 1).value(), 4).value()})
                 .value();
  runner x{{.graph = graph, .leases_splits = true}};
  x.start(heard.callbacks());
  // The zip reads its second input after the first input has given a row. Then the question of the
  // second input and the next question of the first input are open at the same time.
  ASSERT_TRUE(heard.wait([&] { return heard.asked.size() == 1; }));
  x.give_splits({0, 0, 0}, lease_answer{split_range{0, 1}});
  ASSERT_TRUE(heard.wait([&] { return heard.asked.size() == 3; })) << "one kept the other waiting";
  EXPECT_THAT(heard.asked,
              testing::UnorderedElementsAre(split_question{0, 0, 0}, split_question{0, 0, 1},
                                            split_question{1, 0, 0}));
  x.give_splits({1, 0, 0}, lease_answer{split_range{7, 1}});
  ASSERT_TRUE(heard.wait([&] { return heard.asked.size() == 4; }));
  x.give_splits({1, 0, 1}, lease_answer{});
  x.give_splits({0, 0, 1}, lease_answer{});
  ASSERT_TRUE(heard.wait([&] { return heard.over; }));
  EXPECT_EQ(heard.produced, 1u);
}

TEST(Runner, GivesBackWhatItsPipelineIsDoneWithBeforeItAsksForTheNextPass) {
  hearing heard;
  auto graph = make_repeat(make_take(numbers(1'000), 3).value(), 2).value();
  runner x{{.graph = graph, .leases_splits = true}};
  x.start(heard.callbacks());
  ASSERT_TRUE(heard.wait([&] { return heard.asked.size() == 1; }));
  x.give_splits({0, 0, 0}, lease_answer{split_range{0, 80}});
  ASSERT_TRUE(heard.wait([&] { return heard.closed.size() == 1; }));
  EXPECT_EQ(heard.closed[0], (split_question{0, 0, 1}));
  EXPECT_EQ(heard.rest, (split_range{3, 77}));
  EXPECT_EQ(heard.asked.size(), 1u) << "the job does not know yet what came back";
  x.give_splits(heard.closed[0], lease_answer{});
  ASSERT_TRUE(heard.wait([&] { return heard.asked.size() == 2; }));
  x.give_splits({0, 1, 0}, lease_answer{split_range{100, 3}});
  ASSERT_TRUE(heard.wait([&] { return heard.over; }));
  EXPECT_EQ(heard.produced, 6u);
  EXPECT_FALSE(x.exhausted()) << "its pipeline ended by itself";
}

TEST(Runner, SaysThatItsSourcesAreExhausted) {
  hearing heard;
  runner x{{.graph = numbers(10), .leases_splits = true}};
  x.start(heard.callbacks());
  ASSERT_TRUE(heard.wait([&] { return heard.asked.size() == 1; }));
  x.give_splits({0, 0, 0}, lease_answer{});
  ASSERT_TRUE(heard.wait([&] { return heard.over; }));
  EXPECT_TRUE(x.exhausted());
}

TEST(Runner, FailsTheSourceWhoseQuestionIsRefused) {
  hearing heard;
  runner x{{.graph = numbers(10), .leases_splits = true}};
  x.start(heard.callbacks());
  ASSERT_TRUE(heard.wait([&] { return heard.asked.size() == 1; }));
  x.give_splits({0, 0, 0}, failed_precondition("other files"));
  ASSERT_TRUE(heard.wait([&] { return heard.over; }));
  EXPECT_EQ(heard.produced, 1u) << "the error is a row";
  EXPECT_FALSE(x.exhausted());
}

TEST(Runner, BeginsWithEmptyCachesWhateverTheGraphKeptBefore) {
  const auto graph = make_repeat(make_cache(numbers(10)).value(), 2).value();
  for (const uint64_t first : {0, 5}) {
    hearing heard;
    runner x{{.graph = graph, .leases_splits = true}};
    x.start(heard.callbacks());
    ASSERT_TRUE(heard.wait([&] { return heard.asked.size() == 1; })) << "it read from another run";
    x.give_splits({0, 0, 0}, lease_answer{split_range{first, 5}});
    ASSERT_TRUE(heard.wait([&] { return heard.asked.size() == 2; }));
    x.give_splits({0, 0, 1}, lease_answer{});
    ASSERT_TRUE(heard.wait([&] { return heard.over; }));
    EXPECT_EQ(heard.produced, 10u);
  }
}

TEST(Runner, IsNotHeldByAThreadThatReadsAheadAndWaitsForSplits) {
  hearing heard;
  auto ahead = make_prefetch(numbers(1'000'000), 4).value();
  runner x{{.graph = through_f(ahead),
            .leases_splits = true,
            .find_function = [](const function_reference&) {
              return [](const block&) -> result<block> { throw 7; };
            }}};
  x.start(heard.callbacks());
  ASSERT_TRUE(heard.wait([&] { return !heard.asked.empty(); }));
  x.give_splits({0, 0, 0}, lease_answer{split_range{0, 1}});
  ASSERT_TRUE(heard.wait([&] { return heard.over; })) << "it waits for the next splits";
  EXPECT_FALSE(heard.crash.ok());
}

TEST(Runner, CountsAThreadThatDoesNotStopUntilItEnds) {
  struct gate {
    std::mutex mutex;
    std::condition_variable changed;
    bool entered = false, open = false;
  };
  auto door = std::make_shared<gate>();
  auto threads = std::make_shared<stopping_threads>();
  hearing heard;
  {
    runner x{{.graph = through_f(numbers(10)),
              .find_function =
                [door](const function_reference&) {
                  return [door](const block& rows) -> result<block> {
                    std::unique_lock lock{door->mutex};
                    door->entered = true;
                    door->changed.notify_all();
                    door->changed.wait(lock, [&] { return door->open; });
                    return rows;
                  };
                },
              .threads = threads}};
    x.start(heard.callbacks());
    std::unique_lock lock{door->mutex};
    ASSERT_TRUE(door->changed.wait_for(lock, 60s, [&] { return door->entered; }));
  }
  const auto now = clock::system().now();
  EXPECT_EQ(threads->stuck(now + 1h, 1h), 1u);
  EXPECT_EQ(threads->stuck(now, 1h), 0u) << "it may still come to its end";
  {
    std::lock_guard lock{door->mutex};
    door->open = true;
    door->changed.notify_all();
  }
  const auto end = clock::system().now() + 60s;
  while (threads->stuck(now + 1h, 1h) != 0) ASSERT_LT(clock::system().now(), end);
  EXPECT_FALSE(heard.over) << "what a stopped thread says is not heard";
}

TEST(Runner, CountsNoThreadAsStuckThatIsBusy) {
  struct gate {
    std::atomic<bool> open = false;
    std::atomic<int64_t> used_ns = 0;
  };
  auto door = std::make_shared<gate>();
  auto threads = std::make_shared<stopping_threads>();
  hearing heard;
  const auto limit = clock::system().now() + 60s;
  {
    runner x{{.graph = through_f(numbers(10)),
              .find_function =
                [door](const function_reference&) {
                  return [door](const block& rows) -> result<block> {
                    while (!door->open) {
                      timespec used{};
                      ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
                      door->used_ns = used.tv_sec * 1'000'000'000 + used.tv_nsec;
                    }
                    return rows;
                  };
                },
              .threads = threads}};
    x.start(heard.callbacks());
    while (door->used_ns == 0) ASSERT_LT(clock::system().now(), limit);
  }
  // The time that is passed to `stuck` advances by a second for each call. Before each call the
  // thread computes for at least 50 ms.
  auto now = clock::system().now();
  for (int look = 0; look < 3; ++look) {
    const auto before = door->used_ns.load();
    while (door->used_ns < before + 50'000'000) ASSERT_LT(clock::system().now(), limit);
    EXPECT_EQ(threads->stuck(now += 1s, 1s), 0u) << look;
  }
  door->open = true;
  while (threads->stuck(now + 1h, 1h) != 0) ASSERT_LT(clock::system().now(), limit);
}

TEST(StoppingThreads, CountAThreadFromWhenItStoppedComputing) {
  stopping_threads x;
  duration used = 7s;
  const time_point told{1h};
  const auto one = x.add(told, [&] { return used; });
  EXPECT_EQ(x.stuck(told + 4s, 5s), 0u);
  EXPECT_EQ(x.stuck(told + 5s, 5s), 1u);
  used += 1s;
  EXPECT_EQ(x.stuck(told + 10s, 5s), 0u) << "it was busy";
  used += 1ms;
  EXPECT_EQ(x.stuck(told + 14s, 5s), 0u);
  EXPECT_EQ(x.stuck(told + 15s, 5s), 1u) << "a millisecond in 5 s is nothing";
  x.remove(one);
  EXPECT_EQ(x.stuck(told + 99s, 5s), 0u);
}

TEST(Runner, DoesNotWaitForBytesThatAreTakenAtOnce) {
  hearing heard;
  auto callbacks = heard.callbacks();
  callbacks.produced = [&, note = std::move(callbacks.produced)](block rows, duration took) {
    const auto bytes = rows.bytes();
    note(std::move(rows), took);
    return bytes;
  };
  runner x{{.graph = numbers(1'000'000), .most_outstanding = 1}};
  x.start(std::move(callbacks));
  ASSERT_TRUE(heard.wait([&] { return heard.over; }));
  EXPECT_EQ(heard.produced, 1'000'000u);
}

TEST(Runner, EndsWithAnErrorIfItsThreadCannotBeStarted) {
  auto threads = std::make_shared<stopping_threads>();
  status how;
  {
    runner x{{.graph = numbers(10),
              .threads = threads,
              .start_thread = [](std::function<void()>) -> std::thread {
                throw std::system_error{EAGAIN, std::generic_category(), "thread"};
              }}};
    runner::callbacks hear;
    hear.ended = [&](const status& why) { how = why; };
    x.start(std::move(hear));
  }
  EXPECT_EQ(how.code(), status_code::resource_exhausted);
  EXPECT_EQ(threads->stuck(clock::system().now() + 1h, 1h), 0u);
}

} // namespace
} // namespace headrace::detail
