#include "headrace/actors/consumer/consumer_core.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

constexpr task_id task{7};

/// A consumer of a shared job.
class ConsumerLease : public testing::Test {
protected:
  ConsumerLease() {
    core.dispatcher_up(now);
    view.job = job_id{2};
    view.shared = true;
    view.tasks = {{task, incarnation{1}, "host:9", {}, worker_id{3}}};
  }
  void reads() {
    core.answered(1, view, now);
    core.linked("host:9", now);
    core.arrived(task, from_task{stream_opened{}}, now);
  }
  /// The next heartbeat of the consumer; nullopt: it sends none up to the time `limit`.
  std::optional<consume::beat> beats(time_point limit) {
    while (*core.next_deadline() <= limit) {
      now = std::max(now, *core.next_deadline());
      for (const auto& x : core.timer(now))
        if (const auto* one = std::get_if<consume::beat>(&x))
          return *one;
    }
    return {};
  }
  /// A consumer of the trainer "b", in a job with a cross-trainer cache and two expected trainers.
  consumer_core of_a_shared_pass(consumer_id id) const {
    return {{.dataset_id = "d",
             .job_name = "j",
             .parameters = {.cross_trainer_cache = cache_terms{1min, 2}},
             .trainer = "b"},
            id,
            "host:1",
            out,
            logger{},
            now};
  }

  time_point now{1h};
  std::shared_ptr<handout> out = std::make_shared<handout>([] {});
  iteration_view view{.version = 1, .timing = {30s, 60s}};
  consumer_core core{
    {.dataset_id = "d", .job_name = "j"}, consumer_id{1}, "host:1", out, logger{}, now};
};

TEST_F(ConsumerLease, BeatsAsOftenAsADispatcherAsksThatCameBackWithAShorterOne) {
  reads();
  now += 5s;
  core.dispatcher_down(unavailable("it died"), now);
  now += 1s;
  const auto asked = core.dispatcher_up(now);
  view.timing = {500ms, 2s};
  view.version = 9;
  core.answered(2, view, now);
  EXPECT_TRUE(beats(now + 500ms)) << "its next heartbeat was meant for 24 s later";
}

TEST_F(ConsumerLease, IsNoSlowerForALongerOne) {
  view.timing = {500ms, 2s};
  reads();
  view.timing = {30s, 60s};
  view.version = 9;
  core.told(view, now);
  EXPECT_TRUE(beats(now + 500ms)) << "as it was meant";
  EXPECT_FALSE(beats(now + 29s));
}

TEST_F(ConsumerLease, SaysThatItsTrainerWaitsOnceNothingHasComeForAHeartbeat) {
  view.timing = {1s, 5s};
  reads();
  EXPECT_FALSE(beats(now + 1s)->what.waits);
  std::shared_ptr<const block> current;
  status how;
  EXPECT_EQ(out->try_next(current, how), handout::outcome::nothing_yet);
  EXPECT_FALSE(beats(now + 1s)->what.waits) << "since now";
  EXPECT_TRUE(beats(now + 1s)->what.waits);
  block b;
  b.rows = 1;
  b.columns.push_back(column::of_scalars<int64_t>(std::vector<int64_t>{1}));
  core.arrived(task, from_task{stream_block{0, std::move(b)}}, now);
  EXPECT_FALSE(beats(now + 1s)->what.waits);
}

TEST_F(ConsumerLease, CountsNoTimeInWhichItsProcessWasStopped) {
  view.timing = {1s, 5s};
  reads();
  std::shared_ptr<const block> current;
  status how;
  EXPECT_EQ(out->try_next(current, how), handout::outcome::nothing_yet);
  ASSERT_TRUE(beats(now + 1s));
  now += 100s; // exceeds the time-outs for workers and for the dispatcher's answer
  EXPECT_TRUE(beats(now));
  EXPECT_FALSE(core.over());
  core.heartbeat_answered({}, now, now);
  EXPECT_TRUE(beats(now + 1s));
  EXPECT_FALSE(core.over());
}

TEST_F(ConsumerLease, TellsWhoReusesANameThatItsJobIsOver) {
  view.tasks.clear();
  view.finished = true;
  view.over_before = true;
  core.answered(1, view, now);
  std::shared_ptr<const block> current;
  status how;
  EXPECT_EQ(out->try_next(current, how), handout::outcome::over);
  EXPECT_TRUE(how.ok());
  EXPECT_THAT(out->take_remark(), testing::HasSubstr("another job_name"));
  for (const auto& x : core.trainer_leaves(now))
    EXPECT_FALSE(std::holds_alternative<consume::say_goodbye>(x)) << "nobody would know it";
}

TEST_F(ConsumerLease, TellsATrainerOfASharedCacheThatItsPassWasOverWhenItCame) {
  auto late = of_a_shared_pass(consumer_id{1});
  late.dispatcher_up(now);
  view.tasks.clear();
  view.finished = true;
  late.answered(1, view, now);
  std::shared_ptr<const block> current;
  status how;
  EXPECT_EQ(out->try_next(current, how), handout::outcome::over);
  EXPECT_THAT(out->take_remark(), testing::HasSubstr("was over when trainer 'b' came"));
}

TEST_F(ConsumerLease, TellsATrainerOfASharedCacheThatPartOfItsPassWasOverWhenItCame) {
  auto late = of_a_shared_pass(consumer_id{1});
  late.dispatcher_up(now);
  const auto tasks = std::exchange(view.tasks, {});
  view.over_elements = 1000;
  view.lost_tasks = 2;
  late.answered(1, view, now);
  view.version += 1;
  view.finished = true;
  view.over_elements = 3000;
  late.told(view, now);
  std::shared_ptr<const block> current;
  status how;
  EXPECT_EQ(out->try_next(current, how), handout::outcome::over);
  EXPECT_THAT(out->take_remark(),
              testing::HasSubstr("part of this pass was over when trainer 'b' came, or came again: "
                                 "workers had come to their end, with 1000 elements, and 2 workers "
                                 "were lost"));

  // The task may end after the job named it and before the consumer opens its stream.
  out = std::make_shared<handout>([] {});
  auto later = of_a_shared_pass(consumer_id{2});
  later.dispatcher_up(now);
  view.tasks = tasks;
  view.finished = false;
  view.over_elements = view.lost_tasks = 0;
  later.answered(1, view, now);
  view.version += 1;
  view.tasks.clear();
  view.finished = true;
  view.over_elements = 70;
  later.told(view, now);
  EXPECT_EQ(out->try_next(current, how), handout::outcome::over);
  EXPECT_THAT(out->take_remark(), testing::HasSubstr("to their end, with 70 elements. What"));
}

} // namespace
} // namespace headrace::detail::test
