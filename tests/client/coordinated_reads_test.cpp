#include "headrace/client/headrace.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/taking.hpp"

#include <gmock/gmock.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using test::take;
using test::why;
using testing::HasSubstr;

/// A service with some workers. A graph may call a function of the worker that adds the worker's
/// number, times a billion, to each element.
class CoordinatedReads : public testing::Test {
protected:
  static constexpr int64_t apart = 1'000'000'000;

  void start_worker() {
    const auto place = static_cast<int64_t>(++started_) * apart;
    workers.push_back(std::make_unique<worker_server>(worker_server_options{
      .dispatcher = dispatcher.target(),
      .lease = 1s,
      .find_function = [place](const function_reference&) -> named_function {
        return [place](const block& rows) -> result<block> {
          std::vector<int64_t> out;
          for (auto x : rows.columns[0].values<int64_t>()) out.push_back(x + place);
          return block{.columns = {column::of_scalars<int64_t>(out)}, .rows = rows.rows};
        };
      }}));
    ASSERT_TRUE(await_service_workers(dispatcher.target(), workers.size(), test::patience).ok());
  }
  dataset over(const dataset& what, coordinated_reads how, const std::string& job = "train") const {
    return what.apply(
      distribute{{.service = dispatcher.target(), .job_name = job, .coordinated_reads = how}});
  }
  static dataset numbers() { return dataset::counter(); }
  std::string refusal(const dataset& what, coordinated_reads how,
                      const std::string& job = "train") const {
    return why([&] { static_cast<void>(over(what, how, job)); });
  }
  std::string first_error(coordinated_reads how, const std::string& job = "train") const {
    auto it = over(numbers(), how, job).iterate();
    const auto next = it.next();
    return next ? "nothing was wrong" : next.status().message();
  }

  dispatcher_server dispatcher{{.heartbeat = 50ms, .lease = 1s}};
  std::vector<std::unique_ptr<worker_server>> workers;

private:
  size_t started_ = 0;
};

TEST_F(CoordinatedReads, GivesEachConsumerItsElementOfEachRound) {
  start_worker();
  // One thread reads for both consumers.
  auto a = over(numbers(), {.consumer_index = 0, .num_consumers = 2}).iterate();
  auto b = over(numbers(), {.consumer_index = 1, .num_consumers = 2}).iterate();
  for (int64_t round = 0; round < 1'000; ++round) {
    ASSERT_EQ(take(a, 1), std::vector{2 * round});
    ASSERT_EQ(take(b, 1), std::vector{2 * round + 1});
  }
}

TEST_F(CoordinatedReads, GoOnAtTheNextRoundWhereAConsumerComesInThePlaceOfAnother) {
  start_worker();
  auto a = over(numbers(), {.consumer_index = 0, .num_consumers = 2}).iterate();
  std::optional b{over(numbers(), {.consumer_index = 1, .num_consumers = 2}).iterate()};
  EXPECT_EQ(take(a, 10).back(), 18);
  EXPECT_EQ(take(*b, 10).back(), 19);
  EXPECT_THAT(first_error({.consumer_index = 1, .num_consumers = 2}),
              HasSubstr("another consumer reads job 'train' with consumer_index 1"));
  b.reset();
  b.emplace(over(numbers(), {.consumer_index = 1, .num_consumers = 2, .rejoin = true}).iterate());
  for (int64_t round = 10; round < 1'000; ++round) {
    ASSERT_EQ(take(*b, 1), std::vector{2 * round + 1});
    ASSERT_EQ(take(a, 1), std::vector{2 * round});
  }
}

TEST_F(CoordinatedReads, BeginAnewWhereAllConsumersHaveLeft) {
  start_worker();
  for (int i = 0; i < 2; ++i) {
    auto a = over(numbers(), {.consumer_index = 0, .num_consumers = 2}).iterate();
    auto b = over(numbers(), {.consumer_index = 1, .num_consumers = 2}).iterate();
    EXPECT_EQ(take(a, 100).back(), 198);
    EXPECT_EQ(take(b, 100).back(), 199);
  }
}

TEST_F(CoordinatedReads, SayWhichConsumerIsMissing) {
  start_worker();
  auto a =
    over(numbers(), {.consumer_index = 0, .num_consumers = 3, .consumer_timeout = 200ms}).iterate();
  auto b =
    over(numbers(), {.consumer_index = 2, .num_consumers = 3, .consumer_timeout = 200ms}).iterate();
  EXPECT_THAT(a.next().status().message(),
              HasSubstr("no consumer with consumer_index 1 of 3 has come to job 'train'"));
}

TEST_F(CoordinatedReads, SayWhichConsumerHasLeft) {
  start_worker();
  auto a =
    over(numbers(), {.consumer_index = 0, .num_consumers = 2, .consumer_timeout = 200ms}).iterate();
  {
    auto b = over(numbers(), {.consumer_index = 1, .num_consumers = 2}).iterate();
    EXPECT_EQ(take(b, 5).size(), 5u);
  }
  status last;
  for (bool more = true; more;) {
    auto next = a.next();
    more = next.ok();
    last = next.status();
  }
  EXPECT_THAT(last.message(), HasSubstr("the consumer with consumer_index 1 of 2 of job 'train' "
                                        "has left (perhaps as it waited in vain, too) or is lost"));
}

TEST_F(CoordinatedReads, SayThatADatasetEnded) {
  start_worker();
  // A dataset whose number of elements is unknown.
  const auto some = dataset::range(10'000).filter([](expr x) { return x >= 0; });
  auto a = over(some, {.consumer_index = 0, .num_consumers = 1}).iterate();
  const auto got = take(a, 20'000);
  EXPECT_LE(got.size(), 10'000u);
  auto b = over(some, {.consumer_index = 0, .num_consumers = 1}, "again").iterate();
  status last;
  for (bool more = true; more;) {
    auto next = b.next();
    more = next.ok() && *next;
    last = next.status();
  }
  EXPECT_THAT(last.message(), HasSubstr("need a dataset without an end"));
}

TEST_F(CoordinatedReads, NameTheRuleThatIsBroken) {
  EXPECT_THAT(refusal(numbers(), {.consumer_index = 2, .num_consumers = 2}),
              HasSubstr("consumer_index is 2; with 2 consumers it must be 0 to 1"));
  EXPECT_THAT(refusal(numbers(), {.num_consumers = 0}), HasSubstr("num_consumers must be 1"));
  EXPECT_THAT(refusal(numbers(), {.num_consumers = 2}, ""), HasSubstr("need a job_name"));
  EXPECT_THAT(refusal(dataset::range(5), {.num_consumers = 2}),
              HasSubstr("need an infinite dataset"));
  const auto with = [&](auto change) {
    distribute_options options{.service = dispatcher.target(),
                               .job_name = "train",
                               .coordinated_reads = coordinated_reads{.num_consumers = 2}};
    change(options);
    return why([&] { static_cast<void>(numbers().apply(distribute{options})); });
  };
  EXPECT_THAT(with([](auto& x) { x.cross_trainer_cache = trainer_cache{.trainer_id = "a"}; }),
              HasSubstr("together with cross_trainer_cache"));
  EXPECT_THAT(with([](auto& x) { x.target_workers = target_workers::local; }),
              HasSubstr("target_workers cannot be LOCAL"));
  EXPECT_THAT(with([](auto& x) { x.coordinated_reads->consumer_timeout = 0s; }),
              HasSubstr("consumer_timeout must be more than 0"));
}

TEST_F(CoordinatedReads, RefuseAnotherNumberOfConsumers) {
  start_worker();
  auto a = over(numbers(), {.consumer_index = 0, .num_consumers = 1}).iterate();
  EXPECT_EQ(take(a, 1).size(), 1u);
  EXPECT_THAT(first_error({.consumer_index = 0, .num_consumers = 2}),
              HasSubstr("exists with number of consumers 1; this client asks for number of "
                        "consumers 2"));
}

/// The elements of each consumer, in the order of the rounds.
using rounds_of = std::vector<std::vector<int64_t>>;

/// Checks that the consumers got consecutive elements of one worker in each round. Each worker has
/// added a multiple of `apart` to its elements.
void expect_in_step(const rounds_of& got, int64_t apart) {
  const auto n = static_cast<int64_t>(got.size());
  for (size_t round = 0; round < got[0].size(); ++round)
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_LT(round, got[i].size()) << "consumer " << i;
      const auto x = got[i][round];
      ASSERT_EQ(x % apart % n, static_cast<int64_t>(i)) << "round " << round;
      ASSERT_EQ(x - static_cast<int64_t>(i), got[0][round]) << "round " << round;
    }
}

TEST_F(CoordinatedReads, StayInStepWhileWorkersComeAndGo) {
  start_worker();
  start_worker();
  constexpr size_t consumers = 3;
  const auto ds = numbers().map(named_call{"place", tensor_spec{dtype::int64, shape{}}});
  std::vector<std::unique_ptr<dataset_iterator>> its;
  for (uint32_t i = 0; i < consumers; ++i)
    its.push_back(std::make_unique<dataset_iterator>(
      over(ds, {.consumer_index = i, .num_consumers = consumers}).iterate()));
  rounds_of got(consumers);
  const auto step = [&] {
    for (size_t i = 0; i < consumers; ++i)
      for (auto x : take(*its[i], 1)) got[i].push_back(x);
  };
  const auto seen = [&] {
    std::set<int64_t> out;
    for (size_t i = got[0].size() - std::min<size_t>(got[0].size(), 10); i < got[0].size(); ++i)
      out.insert(got[0][i] / apart);
    return out;
  };
  // Reads until the last ten rounds came from exactly these workers.
  const auto until = [&](const std::set<int64_t>& workers_of) {
    const auto limit = clock::system().now() + test::patience;
    do {
      const auto before = got[0].size();
      step();
      ASSERT_EQ(got[0].size(), before + 1) << "no round came";
    } while (seen() != workers_of && clock::system().now() < limit);
    EXPECT_EQ(seen(), workers_of);
  };
  until({1, 2});
  start_worker();
  until({1, 2, 3});
  workers[1].reset();
  until({1, 3});
  workers[0].reset();
  until({3});
  expect_in_step(got, apart);
  std::set<int64_t> once(got[0].begin(), got[0].end());
  EXPECT_EQ(once.size(), got[0].size());
}

} // namespace
} // namespace headrace::detail
