#include "headrace/client/headrace.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/taking.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using test::take;
using test::why;
using testing::HasSubstr;

constexpr auto off = sharding_policy::off;

/// A service whose worker is reached through a socket, as a worker of another process is.
class CrossTrainerCache : public testing::Test {
protected:
  explicit CrossTrainerCache(uint64_t bytes = 0) : bytes_(bytes) { start_worker(); }

  void start_worker() {
    worker.reset();
    worker.emplace(worker_server_options{.dispatcher = dispatcher.target(),
                                         .lease = 1s,
                                         .find_function = find,
                                         .cross_trainer_cache_size = bytes_});
    ASSERT_TRUE(await_service_workers(dispatcher.target(), 1, test::patience).ok());
  }
  dataset over(const dataset& what, trainer_cache cache, const std::string& job = "train") const {
    return what.apply(distribute{{.service = dispatcher.target(),
                                  .job_name = job,
                                  .compression = packing,
                                  .cross_trainer_cache = std::move(cache)}});
  }
  static std::vector<int64_t> numbers(int64_t n) {
    std::vector<int64_t> out(static_cast<size_t>(n));
    std::iota(out.begin(), out.end(), 0);
    return out;
  }
  std::optional<window_status> window() const {
    const auto now = get_service_status(dispatcher.target(), test::patience);
    if (now)
      for (const auto& job : now->jobs)
        for (const auto& task : job.tasks)
          if (task.state == "running")
            return task.window;
    return {};
  }
  /// Waits until the window in the status satisfies `what`. Returns false if it did not in time.
  bool shows(const std::function<bool(const window_status&)>& what) const {
    const auto until = clock::system().now() + test::patience;
    while (clock::system().now() < until)
      if (const auto x = window(); x && what(*x))
        return true;
    return false;
  }

  dispatcher_server dispatcher{{.heartbeat = 50ms, .lease = 1s}};
  function_finder find;
  compression packing = compression::automatic;
  std::optional<worker_server> worker;

private:
  uint64_t bytes_;
};

TEST_F(CrossTrainerCache, GivesEachTrainerAllElements) {
  auto a = over(dataset::counter(), {.trainer_id = "a"}).iterate();
  auto b = over(dataset::counter(), {.trainer_id = "b"}).iterate();
  EXPECT_EQ(take(a, 1'000), numbers(1'000));
  EXPECT_EQ(take(b, 1'000), numbers(1'000));
}

TEST_F(CrossTrainerCache, GivesIteratorsOfOneTrainerDifferentElements) {
  auto a = over(dataset::counter(), {.trainer_id = "a"}).iterate();
  auto b = over(dataset::counter(), {.trainer_id = "a"}).iterate();
  auto all = take(a, 1'000);
  for (auto x : take(b, 1'000)) all.push_back(x);
  std::ranges::sort(all);
  EXPECT_TRUE(std::ranges::adjacent_find(all) == all.end());
}

/// The parameters: the number of trainers, and the compression.
class TrainersOfACache : public CrossTrainerCache,
                         public testing::WithParamInterface<std::pair<int, compression>> {};

TEST_P(TrainersOfACache, ReadTheSameBlocksWhichAreEncodedOnce) {
  const auto [k, asked] = GetParam();
  packing = asked;
  const auto what = dataset::counter().map([](expr x) { return x % 1'000; });
  std::vector<std::thread> threads;
  std::atomic<int> well{0};
  for (int i = 0; i < k; ++i)
    threads.emplace_back([&, i] {
      auto it =
        over(what, {.trainer_id = "t" + std::to_string(i), .start = cache_start::oldest}).iterate();
      const auto got = take(it, 20'000);
      well +=
        got.size() == 20'000
        && std::ranges::equal(got, numbers(20'000), {}, {}, [](int64_t x) { return x % 1'000; });
    });
  for (auto& x : threads) x.join();
  EXPECT_EQ(well, k);
  // The newest block may not be encoded yet, because no stream has credit for it.
  EXPECT_TRUE(shows([](const window_status& x) {
    return x.blocks > 1 && x.encoded <= x.blocks && x.encoded + 1 >= x.blocks;
  }));
  EXPECT_TRUE(shows([k = k](const window_status& x) {
    return x.trainers.size() == static_cast<size_t>(k) && x.bytes <= x.budget;
  }));
}

INSTANTIATE_TEST_SUITE_P(All, TrainersOfACache,
                         testing::Values(std::pair{1, compression::none},
                                         std::pair{8, compression::none},
                                         std::pair{1, compression::snappy},
                                         std::pair{8, compression::snappy}));

/// A service whose worker has a cache of 64 KiB.
class SmallTrainerCache : public CrossTrainerCache {
protected:
  SmallTrainerCache() : CrossTrainerCache(64 << 10) {}
  /// An endless dataset whose elements have 8 KiB each.
  static dataset large() {
    return dataset::counter().map([](expr x) { return fill({1024}, x); });
  }
  static int64_t number(dataset_iterator& from) {
    auto next = from.next();
    return next && *next ? (**next)[0].as<int64_t>().front() : -1;
  }
};

TEST_F(SmallTrainerCache, SkipsElementsForASlowTrainerAndWarnsIt) {
  std::string warned;
  auto slow = over(large(), {.trainer_id = "slow"}).iterate({.warn = [&](const std::string& text) {
    warned = text;
  }});
  auto fast = over(large(), {.trainer_id = "fast"}).iterate();
  EXPECT_EQ(number(slow), 0);
  // The fast trainer may have joined after the first elements had left the window. So its numbers
  // may begin above 0, but must increase.
  for (int64_t i = 0, before = -1; i < 5'000; ++i) {
    const auto x = number(fast);
    ASSERT_GT(x, before);
    before = x;
  }
  int64_t last = 0;
  uint64_t given = 1;
  for (bool skipped = false; given < 3'000 && !skipped; ++given) {
    const auto x = number(slow);
    ASSERT_GT(x, last);
    skipped = x != last + 1;
    last = x;
  }
  EXPECT_LT(given, 3'000u);
  EXPECT_THAT(warned, HasSubstr("trainer 'slow' was too slow for the cross-trainer cache"));
  // Trainer "slow" joined first. So each element that the task has made was given to it, was
  // skipped for it, or counts in its `lag`.
  EXPECT_TRUE(shows([&](const window_status& x) {
    return x.bytes <= x.budget && x.budget == 64 << 10
           && std::ranges::any_of(x.trainers, [&](const auto& t) {
                return t.id == "slow" && t.skipped != 0 && given + t.skipped + t.lag == x.end;
              });
  }));
}

TEST_F(SmallTrainerCache, LosesNothingWhenAWarningIsThrown) {
  auto slow = over(large(), {.trainer_id = "slow"}).iterate({.warn = [](const std::string& text) {
    throw std::runtime_error{text};
  }});
  auto fast = over(large(), {.trainer_id = "fast"}).iterate();
  ASSERT_EQ(number(slow), 0);
  for (int i = 0; i < 5'000; ++i) number(fast);
  uint64_t given = 1;
  for (int64_t last = 0, thrown = 0, after = 0; after < 10; ++given) {
    int64_t x = -1;
    while (x < 0) try {
        x = number(slow);
      } catch (const std::runtime_error& warning) {
        EXPECT_THAT(warning.what(), HasSubstr("was too slow"));
        ++thrown;
      }
    ASSERT_GT(x, last);
    last = x;
    after += thrown != 0;
  }
  EXPECT_TRUE(shows([&](const window_status& x) {
    return std::ranges::any_of(x.trainers, [&](const auto& t) {
      return t.id == "slow" && t.skipped != 0 && given + t.skipped + t.lag == x.end;
    });
  }));
}

TEST_F(SmallTrainerCache, WaitsForASlowTrainerWhereThatIsAsked) {
  const cache_terms waits{1h, 0};
  auto slow = over(large(), {.trainer_id = "slow", .terms = waits}).iterate();
  auto fast = over(large(), {.trainer_id = "fast", .terms = waits}).iterate();
  EXPECT_EQ(number(slow), 0);
  std::atomic<bool> well{true};
  std::thread other{[&] {
    for (int i = 0; i < 3'000; ++i) well = well && number(fast) == i;
  }};
  for (int i = 1; i < 3'000; ++i) ASSERT_EQ(number(slow), i);
  other.join();
  EXPECT_TRUE(well);
}

TEST_F(SmallTrainerCache, SaysThatAnElementIsLargerThanIt) {
  const auto what = dataset::counter().map([](expr x) { return fill({int64_t{16} << 10}, x); });
  auto it = over(what, {.trainer_id = "a"}).iterate();
  const auto first = it.next();
  ASSERT_FALSE(first);
  EXPECT_THAT(first.status().message(),
              HasSubstr("is larger than the worker's cross-trainer cache, which has 65536 bytes"));
  EXPECT_THAT(first.status().message(), HasSubstr("--cross-trainer-cache-size"));
}

TEST_F(CrossTrainerCache, GivesAnErrorToTheTrainerThatMetItAndGoesOn) {
  const auto what = dataset::counter().map([](expr x) { return 10 / (x - 3); });
  const auto failures = [](dataset_iterator& it) {
    int out = 0;
    for (int i = 0; i < 100; ++i) out += !it.next();
    return out;
  };
  auto a = over(what, {.trainer_id = "a"}).iterate();
  EXPECT_EQ(failures(a), 1);
  auto b = over(what, {.trainer_id = "b"}).iterate();
  EXPECT_EQ(failures(b), 0);
}

TEST_F(CrossTrainerCache, StartsATrainerAtTheNewestElementWhereThatIsAsked) {
  auto a = over(dataset::counter(), {.trainer_id = "a"}).iterate();
  EXPECT_EQ(take(a, 1'000), numbers(1'000));
  auto b = over(dataset::counter(), {.trainer_id = "b", .start = cache_start::newest}).iterate();
  EXPECT_GE(take(b, 1).front(), 1'000);
}

TEST_F(CrossTrainerCache, GivesAFiniteDatasetToAllTrainersThatAreExpected) {
  const cache_terms two{1h, 2};
  std::array<std::vector<int64_t>, 2> got;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 2; ++i)
    threads.emplace_back([&, i] {
      const auto ds =
        over(dataset::range(5'000), {.trainer_id = "t" + std::to_string(i), .terms = two});
      for (int epoch = 0; epoch < 2; ++epoch)
        for (const element& x : ds) got[i].push_back(x[0].scalar<int64_t>());
    });
  for (auto& x : threads) x.join();
  auto expected = numbers(5'000);
  for (auto x : numbers(5'000)) expected.push_back(x);
  for (const auto& one : got) EXPECT_EQ(one, expected);
}

TEST_F(CrossTrainerCache, BeginsANewWindowWithAWorkerThatIsStartedAgain) {
  auto a = over(dataset::counter(), {.trainer_id = "a"}).iterate();
  auto b = over(dataset::counter(), {.trainer_id = "b"}).iterate();
  EXPECT_EQ(take(a, 100), numbers(100));
  EXPECT_EQ(take(b, 100), numbers(100));
  start_worker();
  // Elements that the earlier worker had sent may arrive among the elements of the new window.
  for (auto* one : {&a, &b}) {
    int64_t before = 100, fresh = 0;
    while (fresh < 100) {
      const auto x = take(*one, 1);
      ASSERT_EQ(x.size(), 1u);
      if (x.front() == fresh)
        ++fresh;
      else
        ASSERT_EQ(x.front(), before++);
    }
  }
}

// -- errors -------------------------------------------------------------------------------------

TEST_F(CrossTrainerCache, NamesTheRuleThatIsBroken) {
  const auto endless = dataset::counter();
  const auto refusal = [&](auto make) { return why([&] { static_cast<void>(make()); }); };
  EXPECT_THAT(refusal([&] { return over(endless, {.trainer_id = "a"}, ""); }),
              HasSubstr("needs a job_name"));
  EXPECT_THAT(refusal([&] { return over(endless, {.trainer_id = ""}); }),
              HasSubstr("trainer_id must have 1 to 256 bytes"));
  EXPECT_THAT(refusal([&] { return over(dataset::range(5), {.trainer_id = "a"}); }),
              HasSubstr("needs an infinite dataset"));
  EXPECT_THAT(refusal([&] {
                return over(dataset::range(5), {.trainer_id = "a", .terms = {{}, 2}});
              }),
              HasSubstr("on_lag \"wait\""));
}

TEST_F(CrossTrainerCache, RefusesTrainersThatAskForOtherTerms) {
  auto a = over(dataset::counter(), {.trainer_id = "a"}).iterate();
  EXPECT_EQ(take(a, 1).size(), 1u);
  const auto asks = [&](trainer_cache how) {
    auto it = over(dataset::counter(), std::move(how)).iterate();
    return it.next().status().message();
  };
  EXPECT_THAT(asks({.trainer_id = "b", .terms = {2s, 0}}),
              HasSubstr("exists with cross-trainer cache on; this client asks for cross-trainer "
                        "cache on, on_lag wait 2 s"));
}

TEST_F(CrossTrainerCache, IsIteratedOnceADataset) {
  const auto ds = over(dataset::counter(), {.trainer_id = "a"});
  {
    auto it = ds.iterate();
    EXPECT_EQ(take(it, 1).size(), 1u);
  }
  auto it = ds.iterate();
  EXPECT_THAT(it.next().status().message(), HasSubstr("is iterated once"));
}

TEST_F(CrossTrainerCache, GoesWithADatasetThatWasRegistered) {
  const auto id = register_dataset(dispatcher.target(), dataset::counter());
  auto it = from_dataset_id({.processing_mode = off,
                             .service = dispatcher.target(),
                             .job_name = "by id",
                             .cross_trainer_cache = trainer_cache{.trainer_id = "a"}},
                            id)
              .iterate();
  EXPECT_EQ(take(it, 100), numbers(100));
  const auto finite = register_dataset(dispatcher.target(), dataset::range(5));
  EXPECT_THAT(why([&] {
                from_dataset_id({.processing_mode = off,
                                 .service = dispatcher.target(),
                                 .job_name = "by id",
                                 .cross_trainer_cache = trainer_cache{.trainer_id = "a"}},
                                finite);
              }),
              HasSubstr("needs an infinite dataset"));
}

} // namespace
} // namespace headrace::detail
