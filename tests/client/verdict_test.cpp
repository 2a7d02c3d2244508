#include "headrace/client/internal/verdict.hpp"

#include <gmock/gmock.h>

namespace headrace::detail {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

operator_status op(std::string name, double busy, double rows = 100) {
  operator_status out{.name = std::move(name)};
  out.rows_per_second = rows;
  out.busy = busy;
  out.output = 1 - busy;
  return out;
}

task_status task(uint64_t worker, std::vector<operator_status> operators, double rate = 100) {
  task_status out{.task = worker + 100, .worker = worker, .state = "running"};
  out.elements_per_second = rate;
  out.operators = std::move(operators);
  return out;
}

trainer_status trainer(std::string name, double waited) {
  trainer_status out{.consumer = 7, .name = std::move(name)};
  out.waited = waited;
  return out;
}

service_status workers(int count) {
  service_status out;
  for (int i = 1; i <= count; ++i)
    out.workers.push_back({.worker = static_cast<uint64_t>(i),
                           .address = "10.0.0." + std::to_string(i) + ":7000",
                           .alive = true});
  return out;
}

job_status job(std::vector<trainer_status> trainers, std::vector<task_status> tasks) {
  job_status out{.job = 1, .name = "train", .state = "running"};
  out.trainers = std::move(trainers);
  out.tasks = std::move(tasks);
  return out;
}

TEST(Verdict, NamesTheBusiestOperatorAndHowManyWorkersWouldDo) {
  std::vector<task_status> tasks;
  auto root = op("batch(32)", 0.01);
  root.output = 0;
  root.input = 0.99;
  for (uint64_t i = 1; i <= 4; ++i) tasks.push_back(task(i, {root, op("map(decode_jpeg)", 0.98)}));
  const auto x = verdict_of(job({trainer("a", 0.05), trainer("3", 0.41)}, tasks), workers(4));
  EXPECT_EQ(x.cause, slow_part::op);
  EXPECT_EQ(x.what, "map(decode_jpeg)");
  EXPECT_EQ(x.workers, 4u);
  // The two trainers wait 0.23 of the time on average, so 4 * 0.98 / (1 - 0.23) = 5.1 workers would
  // be needed; the number is rounded up.
  EXPECT_EQ(x.wanted, 6u);
  EXPECT_EQ(x.text, "trainer 3 waited 41 % of the last seconds; cause: map(decode_jpeg) on 4 "
                    "workers, busy 98 %; 6 workers would do");
}

TEST(Verdict, DistinguishesOperatorsOfOneName) {
  auto root = op("batch(4)", 0);
  root.output = 0;
  root.input = 1;
  const std::vector all{root, op("map", 0.02), op("map", 0.9), op("map", 0.3), op("range", 0)};
  const auto x = verdict_of(job({trainer("a", 0.5)}, {task(1, all), task(2, all)}), workers(2));
  EXPECT_EQ(x.what, "map");
  EXPECT_EQ(x.place, 2u);
  EXPECT_THAT(x.text,
              HasSubstr("cause: map (the 2nd of 3 from the source) on 2 workers, busy 90 %"));
  // There are two operators named map, and each of them limits the rate of some task.
  auto other = all;
  std::swap(other[2], other[3]);
  const auto y = verdict_of(
    job({trainer("a", 0.5)}, {task(1, all), task(2, other), task(3, other)}), workers(3));
  EXPECT_EQ(y.place, 3u);
  EXPECT_EQ(y.workers, 2u);
}

TEST(Verdict, NoOperatorIsNamedWhereNoneIsTheCause) {
  EXPECT_EQ(verdict_of(job({trainer("a", 0.01)}, {task(1, {op("map", 1)})}), workers(1)).place,
            std::nullopt);
  EXPECT_EQ(verdict_of(job({trainer("a", 1)}, {task(1, {op("map", 0)})}), workers(1)).place,
            std::nullopt)
    << "connections";
}

TEST(Verdict, DistinguishesTrainersOfOneProcess) {
  auto a = trainer("", 0.2), b = trainer("", 0.9);
  a.host = b.host = "gpu-7:4711";
  b.consumer = 0xb;
  const std::vector tasks{task(1, {op("map(f)", 0.9)})};
  EXPECT_EQ(verdict_of(job({b}, tasks), workers(1)).trainer, "gpu-7:4711");
  EXPECT_EQ(verdict_of(job({a, b}, tasks), workers(1)).trainer, "b (gpu-7:4711)");
}

TEST(Verdict, RecommendsNoMoreThanFourTimesAsManyWorkers) {
  auto busy = op("map(f)", 0.5);
  busy.queued = 0.4;
  const auto x = verdict_of(job({trainer("a", 1)}, {task(1, {busy}), task(2, {busy})}), workers(2));
  EXPECT_EQ(x.wanted, 8u);
  EXPECT_TRUE(x.at_least);
  EXPECT_THAT(x.text, HasSubstr("busy 50 % and 40 % waiting for a thread; 8 workers and more would "
                                "help"));
}

TEST(Verdict, SaysThatTrainersAreTheLimitWhereTheyHardlyWait) {
  const auto x = verdict_of(job({trainer("a", 0.03)}, {task(1, {op("map(f)", 0.97)})}), workers(1));
  EXPECT_EQ(x.cause, slow_part::trainers);
  EXPECT_EQ(x.wanted, 1u);
  EXPECT_THAT(x.text, EndsWith("they are the limit"));
}

TEST(Verdict, SaysHowManyWorkersWouldBeEnough) {
  const std::vector idle{op("batch(8)", 0.01), op("map(f)", 0.3)};
  const auto x =
    verdict_of(job({trainer("a", 0)}, {task(1, idle), task(2, idle), task(3, idle), task(4, idle)}),
               workers(4));
  EXPECT_EQ(x.wanted, 2u) << "1.2 of 4, at most 0.9 of each";
  EXPECT_THAT(x.text, EndsWith("2 of 4 workers would do"));
}

TEST(Verdict, AFewPercentOfWaitingAreTheWorkOfMoreThanOneOfManyWorkers) {
  std::vector<task_status> tasks;
  for (uint64_t i = 1; i <= 12; ++i) tasks.push_back(task(i, {op("map(f)", 0.99)}));
  const auto x = verdict_of(job({trainer("a", 0.09)}, tasks), workers(12));
  EXPECT_EQ(x.cause, slow_part::trainers);
  EXPECT_EQ(x.wanted, 14u); // 12 * 0.99 / 0.91 are 13.05
  EXPECT_THAT(x.text, EndsWith("with 14 workers they would not wait"));
  EXPECT_EQ(verdict_of(job({trainer("a", 0.04)}, tasks), workers(12)).wanted, 12u);
}

TEST(Verdict, NamesConnectionsWhereRowsAreReadyAndNotTaken) {
  auto full = op("map(f)", 0.1);
  const auto x =
    verdict_of(job({trainer("a", 0.6)}, {task(1, {full}), task(2, {full})}), workers(2));
  EXPECT_EQ(x.cause, slow_part::link);
  EXPECT_THAT(x.text,
              HasSubstr("on 2 workers had rows ready 50 % of the time while trainers waited"));
  EXPECT_EQ(x.wanted, 0u) << "more workers would not help";
}

TEST(Verdict, RowsThatWereReadyWhileNoTrainerWaitedAreNoCause) {
  // The operator became slow one second ago. Shares cover four seconds, of which the first three
  // were as before.
  auto slower = op("map(f)", 0.25);
  const auto x = verdict_of(job({trainer("a", 0.2)}, {task(1, {slower})}), workers(1));
  EXPECT_EQ(x.what, "map(f)") << x.text;
  // The connection became slow one second ago.
  auto ready = op("map(f)", 0.02);
  const auto y = verdict_of(job({trainer("a", 0.2)}, {task(1, {ready})}), workers(1));
  EXPECT_EQ(y.cause, slow_part::link) << y.text;
}

TEST(Verdict, NamesFilesLeasesAndMemory) {
  auto root = op("batch(8)", 0.02);
  root.output = 0;
  root.input = 0.98;
  auto of = [&](double operator_status::*share) {
    operator_status source{.name = "tfrecord"};
    source.*share = 0.9;
    source.busy = 0.1;
    return verdict_of(job({trainer("a", 0.8)}, {task(1, {root, source})}), workers(1));
  };
  EXPECT_EQ(of(&operator_status::storage).cause, slow_part::storage);
  EXPECT_THAT(of(&operator_status::storage).text,
              HasSubstr("storage: tfrecord on 1 worker waited"));
  EXPECT_EQ(of(&operator_status::lease).cause, slow_part::leases);
  EXPECT_THAT(of(&operator_status::lease).text, HasSubstr("the dispatcher"));
  EXPECT_EQ(of(&operator_status::memory).cause, slow_part::memory);
  EXPECT_THAT(of(&operator_status::memory).text, HasSubstr("autotune.ram_budget"));
}

TEST(Verdict, NamesAWorkerThatGivesMuchLessThanTheOthers) {
  const auto x = verdict_of(job({trainer("a", 0.5)}, {task(1, {op("map(f)", 0.97, 900)}),
                                                      task(2, {op("map(f)", 0.97, 120)}),
                                                      task(3, {op("map(f)", 0.97, 1000)})}),
                            workers(3));
  EXPECT_EQ(x.cause, slow_part::worker);
  EXPECT_EQ(x.what, "10.0.0.2:7000");
  EXPECT_EQ(x.wanted, 6u) << "more workers help, too";
}

TEST(Verdict, BlamesNoWorkerWhoseFewResultsAreChance) {
  // One of a thousand rows passes the filter.
  const auto x = verdict_of(
    job({trainer("a", 0.9)}, {task(1, {op("filter", 0.95, 1), op("range", 0.01, 4000)}),
                              task(2, {op("filter", 0.95, 5), op("range", 0.01, 4100)})}),
    workers(2));
  EXPECT_EQ(x.cause, slow_part::op);
  EXPECT_EQ(x.what, "filter");
  // Here no operator gives enough rows to compare the workers.
  const auto y = verdict_of(
    job({trainer("a", 0.9)}, {task(1, {op("map(f)", 0.95, 1)}), task(2, {op("map(f)", 0.95, 6)})}),
    workers(2));
  EXPECT_EQ(y.cause, slow_part::op);
}

TEST(Verdict, BlamesNoWorkerThatMerelyWaits) {
  auto waits = op("map(f)", 0.1, 50);
  waits.output = 0;
  waits.input = 0.9;
  const auto x = verdict_of(
    job({trainer("a", 0.9)}, {task(1, {op("map(f)", 0.95, 1000)}), task(2, {waits})}), workers(2));
  EXPECT_EQ(x.cause, slow_part::op);
}

TEST(Verdict, BlamesNoWorkerWhoseRowsWaitWhileTheTrainersRead) {
  auto ready = op("map(f)", 0.1, 120);
  ready.output = 0.9;
  ready.input = 0;
  const auto x =
    verdict_of(job({trainer("a", 0.1)}, {task(1, {op("map(f)", 0.97, 1000)}),
                                         task(2, {op("map(f)", 0.97, 1000)}), task(3, {ready})}),
               workers(3));
  EXPECT_EQ(x.cause, slow_part::op);
}

TEST(Verdict, NamesTheTrainerForWhichTheOthersOfARoundWait) {
  auto x =
    job({trainer("consumer 0", 0.7), trainer("consumer 1", 0.01)}, {task(1, {op("map(f)", 0.2)})});
  x.rounds = rounds_status{.consumers = 2};
  const auto out = verdict_of(x, workers(1));
  EXPECT_EQ(out.cause, slow_part::trainer);
  EXPECT_EQ(out.what, "consumer 1");
}

TEST(Verdict, SaysThatNoWorkerRunsTheJob) {
  auto lost = task(1, {});
  lost.state = "lost";
  const auto x = verdict_of(job({trainer("a", 1)}, {lost}), {});
  EXPECT_EQ(x.cause, slow_part::no_worker);
  EXPECT_EQ(x.wanted, 1u);
}

TEST(Verdict, SaysThatOneWorkerIsEnoughToGiveWhatIsMade) {
  auto over = task(1, {});
  over.state = "ended";
  const auto x = verdict_of(job({trainer("a", 0.01)}, {over, over}), workers(2));
  EXPECT_EQ(x.cause, slow_part::trainers);
  EXPECT_EQ(x.wanted, 1u);
}

TEST(Verdict, IsUnknownWhileNothingIsKnown) {
  EXPECT_EQ(verdict_of(job({}, {}), {}).cause, slow_part::unknown);
  EXPECT_EQ(verdict_of(job({trainer("a", -1)}, {task(1, {})}), {}).cause, slow_part::unknown);
  auto over = job({trainer("a", 0.9)}, {task(1, {op("map(f)", 0.9)})});
  over.state = "finished";
  EXPECT_EQ(verdict_of(over, {}).cause, slow_part::unknown);
  EXPECT_EQ(verdict_of(over, {}).text, "the job is finished");
}

TEST(OperatorsOfAJob, AreMeansOfSharesAndSumsOfRates) {
  auto a = op("map(f)", 0.2), b = op("map(f)", 0.6);
  a.rows_per_second = 100;
  b.rows_per_second = 50;
  const auto all = operators_of(job({}, {task(1, {a}), task(2, {}), task(3, {b})}));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_DOUBLE_EQ(all[0].busy, 0.4);
  EXPECT_DOUBLE_EQ(all[0].output, 0.6);
  EXPECT_DOUBLE_EQ(all[0].rows_per_second, 150);
}

} // namespace
} // namespace headrace::detail
