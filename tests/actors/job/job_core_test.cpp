#include "headrace/actors/protocol/iteration_change.hpp"
#include "headrace/actors/protocol/large_graph.hpp"
#include "tests/actors/job/driven_job.hpp"

#include <gmock/gmock.h>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

const std::vector<worker_info> two_workers{worker(1), worker(2)};

// -- tasks ----------------------------------------------------------------------------

TEST(JobCore, StartsATaskOnEachWorkerWhenTheFirstReaderJoins) {
  driven_job x{sharding_policy::off, 10, two_workers};
  EXPECT_EQ(x.open(1).starts.size(), 2u);
  EXPECT_TRUE(x.open(2).starts.empty());
  EXPECT_EQ(x.came(worker(3)).starts.size(), 1u);
}

TEST(JobCore, NamesTheTasksThatItStartsToWhoOpens) {
  driven_job x{sharding_policy::off, 10, {worker(1)}};
  const auto first = x.open(1);
  ASSERT_EQ(first.view().starting.size(), 1u) << "before they have answered";
  EXPECT_EQ(first.view().starting[0].data_address, "host:1");
  EXPECT_TRUE(first.view().tasks.empty());
  x.started(first.starts.at(0));
  const auto second = x.open(2);
  EXPECT_TRUE(second.view().starting.empty());
  EXPECT_EQ(second.view().tasks, first.view().starting);
}

TEST(JobCore, StartsNoSecondTaskOnAWorkerThatIsHeardOfAgain) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  x.started(x.open(1).starts.at(0));
  EXPECT_TRUE(x.came(worker(1)).starts.empty());
  EXPECT_EQ(x.came(worker(1, 2)).starts.size(), 1u) << "another life of it has no task";
}

TEST(JobCore, GivesAWorkerThatCameWhileNobodyReadATaskWhenReadersReturn) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  x.started(x.open(1).starts.at(0));
  x.leave(1);
  EXPECT_TRUE(x.came(worker(2)).starts.empty()) << "nobody reads";
  const auto out = x.open(2);
  ASSERT_EQ(out.starts.size(), 1u);
  EXPECT_EQ(out.starts[0].worker, worker_id{2});
  EXPECT_TRUE(x.open(3).starts.empty());
}

TEST(JobCore, NamesTheNodeOfEachReaderAndKeepsTheFirstOne) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  const auto task = x.open_from(11, 1).starts.at(0);
  EXPECT_EQ(task.what.readers.nodes, (std::map<consumer_id, uint64_t>{{consumer_id{1}, 11}}));
  EXPECT_TRUE(x.open_from(11, 1).answers.size() == 1) << "it asks again";
  EXPECT_EQ(x.open_from(12, 1).how().code(), status_code::permission_denied);
  EXPECT_TRUE(x.core.is_reader({consumer_id{1}, job_id{1}, 0}, 11));
  EXPECT_FALSE(x.core.is_reader({consumer_id{1}, job_id{1}, 0}, 12));
  x.leave(1);
  EXPECT_TRUE(x.state().nodes().empty());
}

TEST(JobCore, LeasesNoSplitsToAnotherLifeOfATask) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  const auto task = x.open(1).starts.at(0).what;
  const auto out = x.ask({.task = task.id, .life = incarnation{99}, .wish = {.which = {0, 0, 0}}});
  EXPECT_EQ(out.how().code(), status_code::failed_precondition);
  EXPECT_TRUE(x.ask(task, {0, 0, 0}));
}

TEST(JobCore, FailsAsAWholeWithItsFirstTaskAndStopsTheOthers) {
  driven_job x{sharding_policy::dynamic, 10, two_workers};
  const auto tasks = x.open(1).starts;
  const auto out = x.ended(tasks[0].what, internal_error("out of luck"));
  ASSERT_EQ(out.stops.size(), 1u);
  EXPECT_EQ(out.stops[0].task, tasks[1].what.id);
  ASSERT_EQ(out.news.size(), 1u);
  EXPECT_EQ(out.news[0].what.failure.message(), "out of luck");
  EXPECT_TRUE(x.state().finished());
  EXPECT_EQ(x.state().failure().message(), "out of luck");
}

TEST(JobCore, IgnoresWhatAnEarlierLifeOfATaskSays) {
  driven_job x{sharding_policy::off, 10, {worker(1)}};
  auto task = x.open(1).starts[0].what;
  task.life = incarnation{99};
  const auto out = x.ended(task);
  EXPECT_TRUE(out.stored.empty());
  EXPECT_TRUE(out.how().ok()) << "it is acknowledged nevertheless";
}

TEST(JobCore, CountsALostTaskWhoseRowsCameFromOtherJobs) {
  split_plan plan;
  plan.other_jobs = true;
  driven_job x{sharding_policy::dynamic, plan, two_workers};
  for (const auto& t : x.open(1).starts) x.started(t);
  const auto losses = [&] {
    return x.core.record().losses_of(x.core.record().repetitions().at(0));
  };
  EXPECT_EQ(losses(), iteration_losses{});
  x.lost(worker_id{1});
  EXPECT_EQ(losses(), iteration_losses{.tasks = 1});
  EXPECT_EQ(describe(losses(), sharding_policy::dynamic),
            "this epoch is incomplete: 1 worker was lost, and with it rows that came from other "
            "jobs");
}

TEST(JobCore, UnderOffLetsAWorkerThatWasAwayGoOnWithItsCopy) {
  driven_job x{sharding_policy::off, 10, two_workers};
  const auto tasks = x.open(1).starts;
  for (const auto& t : tasks) x.started(t);
  x.lost(worker_id{1});
  EXPECT_EQ(x.state().tasks().at(tasks[0].what.id).state, iteration::task_state::lost);
  const auto again = x.came(worker(1)).starts;
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].what.id, tasks[0].what.id) << "another copy was begun";
  EXPECT_FALSE(x.announced(x.started(again[0])).news.empty());
}

TEST(JobCore, AnnouncesTasksThatStartTogetherInFewMessages) {
  std::vector<worker_info> workers;
  for (uint64_t i = 1; i <= 200; ++i) workers.push_back(worker(i));
  driven_job x{sharding_policy::off, 10, workers};
  auto view = x.open(1).view();
  size_t messages = 0;
  const auto read = [&](const job_outcome& out) {
    for (const auto& one : out.news) {
      ++messages;
      EXPECT_NE(one.what.since, 0u) << "only what is new is said";
      view = changed(view, one.what).value();
    }
  };
  EXPECT_EQ(view.starting.size(), 200u);
  for (const auto& t : x.core.record().repetitions().at(0).state.tasks())
    read(x.started({.worker = t.second.worker.id, .what = {.id = t.first, .life = t.second.life}}));
  read(x.announced({}));
  for (int i = 0; i < 20; ++i) read(x.announced({}));
  EXPECT_EQ(view.tasks.size(), 200u);
  EXPECT_TRUE(view.starting.empty());
  EXPECT_LE(messages, 3u);
}

TEST(JobCore, UnderOffHearsTheEndOfACopyBeforeItsWorkerIsBack) {
  driven_job x{sharding_policy::off, 10, two_workers};
  const auto tasks = x.open(1).starts;
  for (const auto& t : tasks) x.started(t);
  x.lost(worker_id{1});
  x.ended(tasks[0].what);
  EXPECT_TRUE(x.came(worker(1)).starts.empty()) << "its copy was given already";
  EXPECT_EQ(x.came(worker(1, 2)).starts.size(), 1u);
}

TEST(JobCore, UnderOffIsOverOnlyWhenACopyIsWhole) {
  driven_job x{sharding_policy::off, 10, {worker(1)}};
  auto tasks = x.open(1).starts;
  x.started(tasks[0]);
  x.lost(worker_id{1});
  EXPECT_FALSE(x.state().finished());
  tasks = x.came(worker(2)).starts;
  ASSERT_EQ(tasks.size(), 1u);
  x.started(tasks[0]);
  x.ended(tasks[0].what);
  EXPECT_TRUE(x.state().finished());
}

TEST(JobCore, UnderDynamicIsOverWhereItsLastTaskIsLostAndNothingIsLeftToRead) {
  for (const bool once : {true, false}) {
    auto plan = one_source(2);
    plan.sources[0].passes = once ? 1 : 2;
    driven_job x{sharding_policy::dynamic, plan, {worker(1)}};
    const auto task = x.open(1).starts.at(0);
    x.started(task);
    for (uint64_t n = 0; n < 2; ++n) {
      EXPECT_FALSE(x.state().finished());
      ASSERT_TRUE(x.ask(task.what, {0, 0, n})->splits);
    }
    x.lost(worker_id{1});
    EXPECT_FALSE(x.state().finished()) << "what did not reach the reader is read again";
    x.beat(1, 0, {{.task = task.what.id, .reached = {split_run{.splits = {0, 2}}}}});
    EXPECT_EQ(x.state().finished(), once) << "a source that is read again has more";
  }
  auto plan = one_source(2);
  plan.sources[0].passes = 1;
  driven_job x{sharding_policy::dynamic, plan, {worker(1)}};
  const auto task = x.open(1).starts.at(0);
  x.started(task);
  ASSERT_TRUE(x.ask(task.what, {0, 0, 0})->splits);
  x.lost(worker_id{1});
  EXPECT_FALSE(x.state().finished()) << "one is left for a worker to come";
}

TEST(JobCore, UnderDynamicGivesEachPieceThatALostTaskHadToOthersWhenThePassIsOver) {
  auto plan = one_source(20);
  plan.rows = {.apart = true, .single = true, .in_order = false};
  driven_job x{sharding_policy::dynamic, plan, two_workers};
  const auto tasks = x.open(1).starts;
  std::map<task_id, uint64_t> numbers;
  std::vector<split_range> of_first;
  for (bool more = true; more;)
    for (const auto& t : tasks) {
      x.started(t);
      const auto given = x.ask(t.what, {0, 0, numbers[t.what.id]++});
      more = given && *given; // the first task that finds no splits waits for the other task
      if (more && t.what.id == tasks[0].what.id)
        of_first.push_back(*given->splits);
    }
  ASSERT_GT(of_first.size(), 1u);
  x.ended(tasks[1].what);
  x.lost(worker_id{1});
  const auto again = x.beat(1, 0, {{.task = tasks[0].what.id}}).starts;
  ASSERT_EQ(again.size(), 1u);
  uint64_t given = 0, lost = 0;
  for (const auto& one : of_first) lost += one.count;
  for (uint64_t n = 0;; ++n) {
    const auto next = x.ask(again[0].what, {0, 0, n});
    ASSERT_TRUE(next) << "nobody else has any";
    if (!*next)
      break;
    given += (*next).splits->count;
  }
  EXPECT_EQ(given, lost);
}

TEST(JobCore, UnderDynamicGivesAWorkerThatWasAwayAnotherTaskAndStopsTheOldOne) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  const auto tasks = x.open(1).starts;
  x.started(tasks[0]);
  const auto gone = x.lost(worker_id{1});
  EXPECT_THAT(gone.stored,
              testing::Contains(job_record::fact{
                0, split_assigner::fact{split_assigner::task_gone{tasks[0].what.id}}}));
  const auto back = x.came(worker(1));
  ASSERT_EQ(back.starts.size(), 1u);
  EXPECT_NE(back.starts[0].what.id, tasks[0].what.id);
  ASSERT_EQ(back.stops.size(), 1u);
  EXPECT_EQ(back.stops[0].task, tasks[0].what.id);
}

TEST(JobCore, KeepsItsTimerQuietWhileOneOfItsRepetitionsIsIdleForLongAndAnotherIsNot) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  x.open(1, 0);
  x.open(2, 1);
  x.leave(1, 0);
  x.pass(30s);
  x.leave(2, 1);
  EXPECT_GT(x.core.next_deadline().value_or(time_point::max()), x.now);
  x.pass(31s);
  EXPECT_GT(x.core.next_deadline().value_or(time_point::max()), x.now);
}

TEST(JobCore, SendsALargeGraphOnlyToAWorkerThatDoesNotHaveIt) {
  job_description about{.id = job_id{1}, .name = "train", .policy = sharding_policy::off};
  about.graph = mutable_buffer{large_graph}.freeze();
  driven_job x{about, two_workers};
  const auto tasks = x.open(1).starts;
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_FALSE(tasks[0].with_graph);
  EXPECT_TRUE(x.started(tasks[0]).starts.empty());
  const auto again = x.started(tasks[1], not_found("this worker does not have the graph")).starts;
  ASSERT_EQ(again.size(), 1u);
  EXPECT_TRUE(again[0].with_graph);
  EXPECT_EQ(again[0].what.id, tasks[1].what.id);
  EXPECT_FALSE(x.state().finished());
}

TEST(JobCore, SharesOutAmongTheTasksThatLive) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1), worker(2), worker(3), worker(4)}};
  const auto tasks = x.open(1).starts;
  const auto sharing = [&] {
    uint64_t out = 0;
    for (const auto& fact : x.all)
      if (const auto* of = std::get_if<split_assigner::fact>(&fact.what))
        if (const auto* by = std::get_if<split_assigner::shared_by>(of))
          out = by->tasks;
    return out;
  };
  EXPECT_EQ(sharing(), 4u);
  x.lost(worker_id{1});
  EXPECT_EQ(sharing(), 3u);
  x.ended(tasks[1].what);
  EXPECT_EQ(sharing(), 2u);
  x.left(tasks[2].what);
  EXPECT_EQ(sharing(), 1u);
  x.came(worker(5));
  EXPECT_EQ(sharing(), 2u);
}

TEST(Iteration, ChangesNothingByDeciding) {
  driven_job x{sharding_policy::dynamic, 10, two_workers};
  x.open(1);
  const auto& r = x.core.record().repetitions().at(0);
  const auto before = r;
  static_cast<void>(r.state.worker_lost(worker_id{1}));
  static_cast<void>(r.state.cancel());
  static_cast<void>(r.splits.note({task_id{5}, 0, 0, 3}));
  EXPECT_TRUE(r == before);
}

// -- splits ---------------------------------------------------------------------------

/// Two sources and two tasks. The first task waits for splits of source 1 and has unread splits of
/// source 0. Meanwhile the second task is sent the end of both sources, and ends.
class CrossedJob : public testing::Test {
protected:
  CrossedJob() : x(sharding_policy::dynamic, plan(), two_workers) {
    const auto tasks = x.open(1).starts;
    for (const auto& t : tasks) x.started(t);
    first = tasks.at(0).what;
    second = tasks.at(1).what;
    rest = *x.ask(first, {0, 0, 0}).value();
    EXPECT_TRUE(x.ask(second, {1, 0, 0}).value());
    uint64_t number = 0;
    for (auto left = 40 - rest.count; left != 0; ++number)
      left -= x.ask(second, {0, 0, number}).value()->count;
    EXPECT_FALSE(x.ask(second, {0, 0, number})) << "the other one has a rest";
    const auto waits = x.last_token;
    const auto crossed =
      x.ask({.task = first.id, .life = first.life, .wish = {.which = {1, 0, 0}}});
    EXPECT_EQ(crossed.answers.size(), 1u);
    EXPECT_FALSE(std::get<lease_answer>(crossed.answers.at(waits)).first) << "that one waits, too";
    EXPECT_FALSE(x.ask(second, {1, 0, 1}).value());
    EXPECT_TRUE(x.ended(second).starts.empty());
  }
  static split_plan plan() {
    split_plan out;
    out.sources = {{.splits = 40, .group = 0}, {.splits = 1, .group = 1}};
    out.groups = 2;
    return out;
  }
  /// The first task and its worker leave.
  std::vector<job_command::start_task> leave() {
    const auto out = x.left(first, {{0, 0, 1, rest}});
    EXPECT_THAT(out.stored, testing::Contains(job_record::fact{
                              0, split_assigner::fact{split_assigner::returned{0, 0, rest}}}));
    return out.starts;
  }

  driven_job x;
  task_order first, second;
  split_range rest;
};

TEST_F(CrossedJob, StartsATaskForWhatCameBackAfterTheOthersEnded) {
  const auto tasks = leave();
  EXPECT_FALSE(x.state().finished());
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].worker, worker_id{2}) << "the other one leaves";
  uint64_t read = 0;
  for (uint64_t number = 0;; ++number) {
    const auto given = x.ask(tasks[0].what, {0, 0, number}).value();
    if (!given)
      break;
    read += given->count;
  }
  EXPECT_EQ(read, rest.count);
  EXPECT_TRUE(x.ended(tasks[0].what).starts.empty());
  EXPECT_TRUE(x.state().finished());
}

TEST_F(CrossedJob, StartsNoFurtherTaskForWhatOneDidNotWant) {
  const auto tasks = leave();
  EXPECT_TRUE(x.ended(tasks.at(0).what).starts.empty());
  EXPECT_TRUE(x.state().finished());
}

TEST_F(CrossedJob, HasAWorkerThatCameWhileNobodyReadGoOnWhereTheTaskForTheRestIsLost) {
  leave();
  x.leave(1);
  EXPECT_TRUE(x.came(worker(3)).starts.empty());
  const auto again = x.open(2).starts;
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].worker, worker_id{3});
  EXPECT_TRUE(x.lost(worker_id{2}).starts.empty());
  EXPECT_FALSE(x.state().finished());
}

TEST_F(CrossedJob, WaitsForAWorkerWhereNoneIsLeftForTheRest) {
  x.lost(worker_id{2});
  EXPECT_TRUE(leave().empty());
  EXPECT_FALSE(x.state().finished());
  EXPECT_EQ(x.came(worker(3)).starts.size(), 1u);
}

TEST(JobCore, AnswersAQuestionThatIsPutAgainOnlyOnce) {
  driven_job y{sharding_policy::dynamic, 1, two_workers};
  const auto tasks = y.open(1).starts;
  EXPECT_TRUE(y.ask(tasks[0].what, {0, 0, 0}).value());
  EXPECT_FALSE(y.ask(tasks[1].what, {0, 0, 0}));
  const auto earlier = y.last_token;
  const auto out =
    y.ask({.task = tasks[1].what.id, .life = tasks[1].what.life, .wish = {.which = {0, 0, 0}}});
  ASSERT_EQ(out.answers.size(), 1u);
  EXPECT_EQ(std::get<status>(out.answers.at(earlier)).code(), status_code::aborted);
  const auto end =
    y.ask({.task = tasks[0].what.id, .life = tasks[0].what.life, .wish = {.which = {0, 0, 1}}});
  EXPECT_EQ(end.answers.size(), 2u) << "both are told that nothing is left";
}

TEST(JobCore, StoresAnAnswerOnceHoweverOftenItsQuestionIsPut) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  const auto task = x.open(1).starts.at(0).what;
  const splits_request question{.task = task.id, .life = task.life, .wish = {.which = {0, 0, 0}}};
  const auto first = x.ask(question);
  EXPECT_FALSE(first.stored.empty());
  const auto again = x.ask(question);
  EXPECT_TRUE(again.stored.empty());
  EXPECT_EQ(std::get<lease_answer>(again.answers.at(x.last_token)),
            std::get<lease_answer>(first.answer()));
}

TEST(JobCore, LeasesNothingToATaskThatIsOver) {
  driven_job x{sharding_policy::dynamic, 10, {worker(1)}};
  const auto task = x.open(1).starts.at(0).what;
  x.lost(worker_id{1});
  const auto out = x.ask({.task = task.id, .life = task.life, .wish = {.which = {0, 0, 0}}});
  EXPECT_EQ(out.how().code(), status_code::failed_precondition);
}

} // namespace
} // namespace headrace::detail::test
