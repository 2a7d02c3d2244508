#include "tests/actors/world/judge.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

/// A small world without faults, read to its end. Each test falsifies the history or the
/// connections of the world, and checks the violations that the judge returns.
class Judge : public testing::Test {
protected:
  /// If `job_name` is empty, each trainer has an anonymous job.
  void build(const std::string& job_name, size_t trainers,
             sharding_policy policy = sharding_policy::dynamic) {
    about.seed = 1;
    about.policy = policy;
    about.data = data;
    about.job_name = job_name;
    about.shards = is_static(policy) ? 2 : 0;
    w = std::make_unique<world>(about);
    for (int i = 0; i < 2; ++i) w->add_worker({.per_block = 1ms, .most_rows = 4});
    for (size_t i = 0; i < trainers; ++i) w->add_trainer(trainer());
  }
  trainer_process::options trainer() const {
    return {.reads = {.dataset_id = "d",
                      .job_name = about.job_name,
                      .parameters = {.mode = about.policy, .guarantee = about.guarantee},
                      .spec = element_spec{tensor_spec{dtype::int64, shape{}}},
                      .worker_timeout = 10s},
            .pause = 1ms,
            .burst = 4};
  }
  void run(const std::string& job_name = "", size_t trainers = 1,
           sharding_policy policy = sharding_policy::dynamic) {
    build(job_name, trainers, policy);
    w->time.run_until(w->time.now() + 400s);
  }
  /// The names of the rules that the judge finds broken.
  std::vector<std::string> broken() {
    judge j{*w, excuses, starving};
    std::vector<std::string> out;
    for (const auto& [rule, what] : j.all()) out.push_back(rule);
    return out;
  }
  trainer_process::record& history(size_t i = 0) { return w->trainers[i].history_for_tests(); }
  using rules = std::vector<std::string>;
  /// Marks all tasks that were leased the split of element `x` as lost.
  void lose_tasks_with(int64_t x) {
    for (auto id : w->leases.at(static_cast<uint64_t>(x) / 2)) w->lost_tasks.emplace(id, at);
  }

  world_dataset data{.splits = 20, .rows = 2};
  time_point at{24h}; ///< the time of loss that `lose_tasks_with` records
  world::options about;
  std::unique_ptr<world> w;
  disturbances excuses;
  std::vector<std::string> starving;
};

TEST_F(Judge, FindsNothingWhereAllIsWell) {
  for (const auto* name : {"", "shared"})
    for (size_t trainers : {1, 3})
      for (auto policy : {sharding_policy::dynamic, sharding_policy::off}) {
        run(name, trainers, policy);
        EXPECT_EQ(broken(), rules{}) << name << ", " << trainers;
      }
}

TEST_F(Judge, FindsALossOfWhichTheTrainerReadsNothing) {
  run();
  const auto x = history().handed_out.back();
  history().handed_out.pop_back();
  lose_tasks_with(x);
  EXPECT_EQ(broken(), rules{"silent"});
  history().remark = "something is missing";
  EXPECT_EQ(broken(), rules{});
}

TEST_F(Judge, FindsAnElementThatWasLost) {
  run();
  history().handed_out.pop_back();
  history().remark = "something is missing";
  EXPECT_EQ(broken(), rules{"end"});
}

TEST_F(Judge, FindsAnElementOfASplitOfWhichNothingReachedAConsumer) {
  run();
  const auto x = history().handed_out.back();
  history().handed_out.pop_back();
  history().remark = "something is missing";
  lose_tasks_with(x);
  EXPECT_EQ(broken(), rules{}) << "a lost task had it, and it had reached the trainer";
  w->reached_a_trainer.erase(x);
  EXPECT_EQ(broken(), rules{}) << "another row of its split had";
  w->reached_a_trainer.erase(x ^ 1);
  EXPECT_EQ(broken(), rules{"lost"});
}

TEST_F(Judge, FindsALossWhereAReaderLeftInOrderAndNothingElseWasGone) {
  data = {.splits = 40, .rows = 1};
  run("shared", 2);
  EXPECT_EQ(broken(), rules{});
  const auto x = history().handed_out.back();
  history().handed_out.pop_back();
  history().ended.reset();
  history().left = history().goodbye_heard = true;
  history(1).remark = "something is missing";
  w->lost_tasks.emplace(*w->leases.at(static_cast<uint64_t>(x)).begin(), at);
  EXPECT_EQ(broken(), rules{"left"});
  history().goodbye_heard = false;
  EXPECT_EQ(broken(), rules{});
}

TEST_F(Judge, ExcusesSuchALossOnlyWhereATrainerDiedAtAboutThatTime) {
  run("shared", 2);
  const auto x = history().handed_out.back();
  history().handed_out.pop_back();
  history().remark = history(1).remark = "something is missing";
  lose_tasks_with(x);
  w->reached_a_trainer.erase(x);
  w->reached_a_trainer.erase(x ^ 1);
  w->sent_to.clear();
  history().ended.reset();
  history().killed = true;
  history().ended_at = at - std::chrono::hours{1};
  EXPECT_EQ(broken(), rules{"lost"}) << "the task had long said what it had got";
  history().ended_at = at + std::chrono::hours{1};
  EXPECT_EQ(broken(), rules{"lost"}) << "it had long said that itself";
  history().ended_at = at - w->about.timing.lease;
  EXPECT_EQ(broken(), rules{});
}

TEST_F(Judge, FindsAnyLossUnderAtLeastOnce) {
  about.guarantee = delivery_guarantee::at_least_once;
  run();
  EXPECT_EQ(broken(), rules{});
  const auto x = history().handed_out.back();
  history().handed_out.pop_back();
  history().remark = "something is missing";
  lose_tasks_with(x);
  EXPECT_EQ(broken(), rules{"end"}) << "also of a task that is lost";
}

TEST_F(Judge, ExcusesARepetitionUnderAtLeastOnceOnlyOfWhatALostTaskHadAndAnotherRead) {
  about.guarantee = delivery_guarantee::at_least_once;
  run();
  const auto x = history().handed_out.front();
  history().handed_out.push_back(x);
  EXPECT_EQ(broken(), rules{"repeat"});
  lose_tasks_with(x);
  EXPECT_EQ(broken(), rules{"repeat"}) << "nobody else was leased it";
  w->leases.at(static_cast<uint64_t>(x) / 2).insert(task_id{99});
  EXPECT_EQ(broken(), rules{"silent repeat"});
  history().remark = "some may have come twice";
  EXPECT_EQ(broken(), rules{});
  about.guarantee = delivery_guarantee::at_most_once;
  w->about.guarantee = about.guarantee;
  EXPECT_EQ(broken(), rules{"repeat"});
}

TEST_F(Judge, FindsAnElementThatWasHandedOutTwiceToOne) {
  run();
  history().handed_out.push_back(history().handed_out.front());
  EXPECT_EQ(broken(), rules{"repeat"});
}

TEST_F(Judge, FindsAnElementThatWasHandedOutToTwoOfOneJob) {
  run("shared", 2);
  history(1).handed_out.push_back(history(0).handed_out.front());
  EXPECT_EQ(broken(), rules{"repeat"});
  history(0).killed = true;
  EXPECT_EQ(broken(), rules{"repeat"}) << "what one that died may have handed out is lost";
  history(0).killed = false;
  history(0).ended = aborted("it was given up");
  excuses.trainers_away.insert(0);
  EXPECT_EQ(broken(), rules{"repeat"});
}

TEST_F(Judge, ExcusesUnderAtLeastOnceWhatOneThatDiedDidNotSay) {
  about.guarantee = delivery_guarantee::at_least_once;
  run("shared", 2);
  history(1).handed_out.push_back(history(0).handed_out.front());
  EXPECT_EQ(broken(), rules{"repeat"});
  history(0).killed = true;
  EXPECT_EQ(broken(), rules{}) << "it may not have said that it handed it out";
}

TEST_F(Judge, FindsAnElementThatOneHandsOutWhichWasGivenUpAndAnotherWasGiven) {
  about.guarantee = delivery_guarantee::at_least_once;
  run("shared", 2);
  history(0).handed_out.push_back(history(1).handed_out.front());
  history(0).ended = aborted("it was given up");
  excuses.trainers_away.insert(0);
  EXPECT_EQ(broken(), rules{"repeat"}) << "it is the first one that it may have not reported";
}

TEST_F(Judge, ExcusesARepetitionByOneThatReadThatItWasGivenUpOnly) {
  about.guarantee = delivery_guarantee::at_least_once;
  run("shared", 2);
  history(1).handed_out.push_back(history(0).handed_out.front());
  excuses.trainers_away.insert(0);
  history(0).ended = aborted("it was given up");
  EXPECT_EQ(broken(), rules{});
  history(0).ended = unavailable("something else");
  EXPECT_EQ(broken(), rules{"repeat"});
}

TEST_F(Judge, ExcusesARepetitionByOneThatLeftAndCouldNotSaySoOnly) {
  about.guarantee = delivery_guarantee::at_least_once;
  run("shared", 2);
  history(1).handed_out.push_back(history(0).handed_out.front());
  history(0).ended.reset();
  history(0).left = true;
  history(0).goodbye_heard = false;
  EXPECT_EQ(broken(), rules{"repeat"}) << "nothing kept it from saying so";
  excuses.trainers_away.insert(0);
  EXPECT_EQ(broken(), rules{});
  history(0).goodbye_heard = true;
  EXPECT_EQ(broken(), rules{"repeat"});
}

TEST_F(Judge, TakesTheSameElementsOfJobsOfTheirOwnForNoRepetition) {
  run("", 2);
  ASSERT_EQ(history(0).handed_out.size(), history(1).handed_out.size());
  EXPECT_EQ(broken(), rules{});
}

TEST_F(Judge, FindsAnEndThatCameTooEarly) {
  run("", 1);
  history().handed_out.resize(10);
  EXPECT_EQ(broken(), (rules{"end", "silent"}));
}

TEST_F(Judge, FindsAnEndWithoutAWholeCopy) {
  run("", 1, sharding_policy::off);
  history().handed_out.resize(30);
  EXPECT_EQ(broken(), rules{"end"});
  excuses.workers_away = {0, 1};
  EXPECT_EQ(broken(), rules{"end"}) << "one whole copy there must be";
}

TEST_F(Judge, ExpectsTheCopiesThatTheJobNamedWhereItDidNotSayThatItIsOver) {
  run("", 1, sharding_policy::off);
  const auto other = history().handed_out.front() >> 32;
  std::erase_if(history().handed_out, [&](auto x) { return x >> 32 == other; });
  EXPECT_EQ(broken(), rules{"end"}) << "both workers had a task";
  history().job_over = false;
  EXPECT_EQ(broken(), rules{"end"}) << "and the trainer was told of both";
  history().named.erase(history().named.begin());
  EXPECT_EQ(broken(), rules{});
}

TEST_F(Judge, FindsAWaitThatDoesNotEnd) {
  about.net.control_silence = duration{0}; // no connection is closed because of silence
  build("", 1);
  // At this early time the trainer still waits, as it would if no message reached it.
  w->time.run_until(w->time.now() + 100us);
  ASSERT_FALSE(w->trainers[0].over());
  EXPECT_EQ(broken(), rules{"wait"});
  w->time.run_until(w->time.now() + 400s);
  EXPECT_EQ(broken(), rules{});
}

TEST_F(Judge, DoesNotWaitForOneThatIsStoppedOrDead) {
  build("", 2);
  w->time.run_until(w->time.now() + 100us);
  w->trainers[0].stop();
  w->trainers[1].kill();
  EXPECT_EQ(broken(), rules{});
}

TEST_F(Judge, FindsAnErrorThatNothingExcuses) {
  run();
  history().handed_out.pop_back();
  history().ended = unavailable("out of the blue");
  EXPECT_EQ(broken(), rules{"error"});
  excuses.trainers_away.insert(0);
  EXPECT_EQ(broken(), rules{});
}

TEST_F(Judge, FindsAnErrorAfterAllElementsAlsoWhereThereWasNoWorker) {
  run();
  history().ended = unavailable("too late");
  excuses.no_worker = true;
  EXPECT_EQ(broken(), rules{"late error"});
  excuses.trainers_away.insert(0);
  EXPECT_EQ(broken(), rules{}) << "it could not know that it had all";
}

TEST_F(Judge, FindsATaskThatIsLeftBehind) {
  run();
  w->workers[0].start_task({.id = task_id{99}, .life = incarnation{1}, .job = job_id{98}},
                           [](const status&) {});
  ASSERT_EQ(w->workers[0].tasks(), 1u);
  EXPECT_EQ(broken(), rules{"orphan"});
  w->time.run_until(w->time.now() + 30s);
  EXPECT_EQ(broken(), rules{}) << "its worker is told that nobody wants it";
}

TEST_F(Judge, FindsCreditThatShrinks) {
  run();
  starving.emplace_back("trainer:1 grants a task 1 element; 32 is its share");
  EXPECT_EQ(broken(), rules{"credit"});
}

// -- shards ---------------------------------------------------------------------------------------

TEST_F(Judge, FindsNothingWhereEachShardWasReadOnce) {
  run("", 1, sharding_policy::data);
  EXPECT_EQ(broken(), rules{});
  EXPECT_EQ(history().handed_out.size(), w->data.elements());
}

TEST_F(Judge, FindsAShardThatLacksAnElement) {
  run("", 1, sharding_policy::data);
  history().handed_out.pop_back();
  EXPECT_EQ(broken(), rules{"end"});
}

TEST_F(Judge, FindsAShardThatNobodyRead) {
  run("", 1, sharding_policy::data);
  std::erase_if(history().handed_out, [](int64_t x) { return (x & 0xffffffff) % 2 == 1; });
  EXPECT_EQ(broken(), rules{"end"});
}

TEST_F(Judge, FindsAnElementOfAnotherShard) {
  run("", 1, sharding_policy::data);
  ++history().handed_out.front();
  EXPECT_EQ(broken(), rules{"shard"});
}

TEST_F(Judge, FindsAShardThatWasReadTwiceWithoutNeed) {
  run("", 1, sharding_policy::data);
  auto& given = history().handed_out;
  const auto first = static_cast<uint64_t>(given.front()) >> 32;
  w->shard_readings[first + 100] = w->shard_readings.at(first);
  given.push_back(given.front() + (int64_t{100} << 32));
  EXPECT_EQ(broken(), rules{"shard"});
  w->shard_readings[first].gone = true;
  EXPECT_EQ(broken(), rules{}) << "then it had to come again";
}

} // namespace
} // namespace headrace::detail::test
