#include "tests/actors/dispatcher/driven_dispatcher.hpp"

#include <gmock/gmock.h>

namespace headrace::detail::test {
namespace {

using namespace dispatcher_command;
using namespace std::chrono_literals;

/// The description of the only job that the commands begin.
job_description begun(const dispatcher_commands& from) {
  const auto all = all_of<run_job>(from);
  EXPECT_EQ(all.size(), 1u);
  return all.empty() ? job_description{} : all[0].what;
}

TEST(DispatcherCore, RefusesRoundsOfSeveralConsumersWhereAutoIsLocal) {
  driven_dispatcher x{
    {.roster = worker_roster::of({"host"}).value(), .deployment = deployment_mode::colocated}};
  const auto graph =
    encode_graph(make_repeat(make_range(0, 10, 1).value(), infinite_cardinality).value()).value();
  const dataset_registration numbers{.graph = graph, .fingerprint = fingerprint(graph)};
  const auto opens = [&](uint32_t consumers, target_workers targets, sharding_policy mode) {
    static uint64_t asked = 100;
    const request_token token{++asked};
    const auto out = x.take(x.core.open_iteration(
      token, {.consumer = consumer_id{asked},
              .dataset = numbers,
              .job_name = "train " + std::to_string(asked),
              .parameters = {.mode = mode, .targets = targets, .num_consumers = consumers}}));
    return all_of<run_job>(out).empty() ? answer_to<status>(token, out) : status{};
  };
  using enum target_workers;
  const auto how = opens(2, automatic, sharding_policy::data);
  EXPECT_EQ(how.code(), status_code::invalid_argument);
  EXPECT_THAT(how.message(), testing::HasSubstr("request target_workers ANY"));
  EXPECT_TRUE(opens(1, automatic, sharding_policy::data).ok());
  EXPECT_TRUE(opens(2, any, sharding_policy::data).ok());
  EXPECT_TRUE(opens(2, automatic, sharding_policy::dynamic).ok());
}

TEST(DispatcherCore, BeginsAJobAndLetsItAnswer) {
  driven_dispatcher x;
  x.enroll("ten");
  const auto out = x.open(1, "ten", "train", sharding_policy::dynamic);
  const auto job = begun(out);
  EXPECT_EQ(job.name, "train");
  EXPECT_EQ(job.dataset_id, "ten");
  EXPECT_EQ(job.policy, sharding_policy::dynamic);
  ASSERT_EQ(job.plan.sources.size(), 1u);
  EXPECT_EQ(job.plan.sources[0].splits, 10u);
  const auto passed = all_of<to_job>(out);
  ASSERT_EQ(passed.size(), 1u);
  EXPECT_EQ(passed[0].job, job.id);
  EXPECT_EQ(passed[0].request, x.last);
}

TEST(DispatcherCore, StoresAJobBeforeItRuns) {
  driven_dispatcher x;
  x.enroll("ten");
  const auto out = x.open(1, "ten");
  const auto at = [&](auto kind) {
    return std::ranges::find_if(
      out, [](const auto& c) { return std::holds_alternative<decltype(kind)>(c); });
  };
  EXPECT_LT(at(store{}), at(run_job{}));
}

TEST(DispatcherCore, FindsANamedJobAgainAndGivesEachAnonymousConsumerItsOwn) {
  driven_dispatcher x;
  x.enroll("ten");
  x.enroll("other", 20);
  const auto named = begun(x.open(1, "ten", "train")).id;
  EXPECT_TRUE(all_of<run_job>(x.open(2, "ten", "train")).empty());
  EXPECT_EQ(all_of<to_job>(x.open(2, "ten", "train")).at(0).job, named);
  EXPECT_NE(begun(x.open(2, "other", "train")).id, named);
  const auto own = begun(x.open(3, "ten")).id;
  EXPECT_EQ(all_of<to_job>(x.open(3, "ten")).at(0).job, own) << "it was put again";
  EXPECT_NE(begun(x.open(4, "ten")).id, own);
}

TEST(DispatcherCore, RegistersWhatAnIterationBringsForThatIteration) {
  driven_dispatcher x;
  EXPECT_EQ(answer_to<status>(x.last, x.open_new(1, false)).code(), status_code::not_found);
  EXPECT_EQ(x.core.record().datasets().size(), 0u);
  const auto job = begun(x.open_new(1, true));
  EXPECT_FALSE(job.graph.empty());
  EXPECT_TRUE(x.core.record().is_for_iteration(job.dataset_id));
  const auto again = x.open_new(1, true);
  EXPECT_TRUE(all_of<run_job>(again).empty()) << "it was put again";
  EXPECT_EQ(all_of<to_job>(again).at(0).job, job.id);
  EXPECT_EQ(x.core.record().datasets().size(), 1u);
  EXPECT_NE(begun(x.open_new(2, false)).id, job.id) << "the graph is known by now";
}

TEST(DispatcherCore, JoinsAJobOverAGraphThatHasNoIdByTheGraph) {
  driven_dispatcher x;
  const auto job = begun(x.open_new(1, true, "train")).id;
  EXPECT_EQ(all_of<to_job>(x.open_new(2, false, "train")).at(0).job, job);
  EXPECT_EQ(x.core.record().datasets().size(), 1u) << "the second needs no id";
  const auto registered = x.enroll({}, 10, true);
  const auto id = answer_to<dataset_def>(x.last, registered).id;
  EXPECT_EQ(all_of<to_job>(x.open(3, id, "train")).at(0).job, job) << "as who registered it before";
  EXPECT_NE(begun(x.open_new(4, true, "train", 20)).id, job);
}

TEST(DispatcherCore, TellsJobsOfOneNameApartByTheIdThatADatasetWasRegisteredUnder) {
  driven_dispatcher x;
  x.enroll("first");
  x.enroll("second");
  const auto first = begun(x.open(1, "first", "j")).id;
  EXPECT_NE(begun(x.open(2, "second", "j")).id, first) << "the graphs are equal, the ids are not";
  EXPECT_EQ(all_of<to_job>(x.open(3, "first", "j")).at(0).job, first);
}

TEST(DispatcherCore, SharesAJobByNameAmongIterationsOverEqualGraphs) {
  driven_dispatcher x;
  const auto enroll = [&] {
    const auto out = x.enroll({}, 10, true);
    return answer_to<dataset_def>(x.last, out).id;
  };
  const auto one = enroll();
  const auto two = enroll();
  EXPECT_NE(one, two);
  const auto job = begun(x.open(1, one, "j")).id;
  EXPECT_EQ(all_of<to_job>(x.open(2, two, "j")).at(0).job, job);
}

TEST(DispatcherCore, RefusesToJoinAJobUnderAnotherPolicy) {
  driven_dispatcher x;
  x.enroll("ten");
  x.open(1, "ten", "train", sharding_policy::dynamic);
  const auto how = answer_to<status>(x.last, x.open(2, "ten", "train", sharding_policy::off));
  EXPECT_EQ(how.code(), status_code::invalid_argument);
  EXPECT_THAT(how.message(), testing::HasSubstr("'train' exists with processing mode dynamic"));
}

TEST(DispatcherCore, RefusesToJoinAJobUnderAnotherGuarantee) {
  driven_dispatcher x;
  x.enroll("ten");
  const auto open = [&](uint64_t consumer, sharding_policy policy, delivery_guarantee guarantee) {
    return x.open(consumer, "ten", "train", policy, {}, guarantee);
  };
  const auto wrong =
    answer_to<status>(x.last, open(1, sharding_policy::off, delivery_guarantee::at_least_once));
  EXPECT_EQ(wrong.code(), status_code::invalid_argument);
  EXPECT_EQ(begun(open(1, sharding_policy::dynamic, delivery_guarantee::at_least_once)).guarantee,
            delivery_guarantee::at_least_once);
  const auto how =
    answer_to<status>(x.last, open(2, sharding_policy::dynamic, delivery_guarantee::at_most_once));
  EXPECT_EQ(how.code(), status_code::invalid_argument);
  EXPECT_THAT(how.message(), testing::HasSubstr("'train' exists with guarantee at_least_once"));
}

TEST(DispatcherCore, HoldsRequestsWhileTheirJobIsStartedAgain) {
  driven_dispatcher x;
  x.enroll("ten");
  const auto job = begun(x.open(1, "ten", "train")).id;
  x.take(x.core.job_crashed(job, internal_error("killed")));
  EXPECT_TRUE(x.for_job(job).empty());
  const auto waits = x.last;
  const auto out = x.started(job);
  ASSERT_EQ(all_of<to_job>(out).size(), 1u);
  EXPECT_EQ(all_of<to_job>(out)[0].request, waits);
}

TEST(DispatcherCore, StopsTheTasksOfAJobThatFailedAndRemembersWhy) {
  driven_dispatcher x;
  x.enroll("ten");
  x.add_worker("host:1");
  const auto job = begun(x.open(1, "ten", "train")).id;
  x.take(x.core.job_crashed(job, internal_error("killed")));
  x.open(1, "ten", "train", sharding_policy::off, job);
  const auto waits = x.last;
  const auto out = x.take(
    x.core.job_failed(job, aborted("too often"), {{task_id{7}, worker_id{1}}, {task_id{8}, {}}}));
  ASSERT_EQ(all_of<stop_task>(out).size(), 1u) << "of the worker that is there";
  EXPECT_EQ(all_of<stop_task>(out)[0].task, task_id{7});
  EXPECT_EQ(all_of<drop_job>(out).at(0).id, job);
  const auto view = answer_to<iteration_view>(waits, out);
  EXPECT_TRUE(view.finished);
  EXPECT_THAT(view.failure.message(), testing::HasSubstr("failed: too often"));
  EXPECT_EQ(answer_to<status>(x.last, x.for_job(job)).code(), status_code::aborted);
  const auto again = begun(x.open(2, "ten", "train")).id;
  EXPECT_NE(again, job) << "who names no job gets another";
}

TEST(DispatcherCore, KeepsItsJobsRunningWhenItTakesOver) {
  driven_dispatcher x;
  x.enroll("ten");
  const auto job = begun(x.open(1, "ten", "train"));
  x.take(x.core.job_ended(begun(x.open(2, "ten")).id));
  x.jobs_run = false;
  const auto again = all_of<run_job>(x.restart());
  ASSERT_EQ(again.size(), 1u) << "but not those that are over";
  EXPECT_EQ(again[0].what.id, job.id);
  EXPECT_EQ(again[0].what.name, "train");
  EXPECT_EQ(again[0].what.graph.size(), job.graph.size());
  EXPECT_EQ(again[0].what.plan.sources.size(), job.plan.sources.size());
  // A reader that requests the job before its actor runs waits for the actor.
  EXPECT_TRUE(all_of<to_job>(x.open(3, "ten", "train")).empty());
  const auto waits = x.last;
  const auto out = all_of<to_job>(x.started(job.id));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].request, waits);
}

TEST(DispatcherCore, GivesNoWorkersNumberToAnotherWhenItTakesOver) {
  driven_dispatcher x;
  for (const auto* address : {"host:1", "host:2"}) x.add_worker(address);
  x.restart();
  const auto number_of = [&](const dispatcher_commands& out) {
    return answer_to<worker_registered>(x.last, out).id;
  };
  EXPECT_EQ(number_of(x.add_worker("host:3")), worker_id{3}) << "new ones come first";
  EXPECT_EQ(number_of(x.add_worker("host:2", 1, worker_id{2})), worker_id{2});
  EXPECT_EQ(number_of(x.add_worker("host:1", 1, worker_id{1})), worker_id{1});
}

TEST(DispatcherCore, TellsJobsOfWorkersThatComeAndAreLost) {
  driven_dispatcher x;
  x.enroll("ten");
  const auto job = begun(x.open(1, "ten")).id;
  auto told = all_of<worker_changed>(x.add_worker("host:1"));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].job, job);
  EXPECT_FALSE(told[0].lost);
  told.clear();
  for (int i = 0; i < 100 && told.empty(); ++i) {
    x.now = x.core.next_deadline().value();
    told = all_of<worker_changed>(x.take(x.core.timer(x.now)));
  }
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(told[0].lost);
  EXPECT_GE(x.now.time_since_epoch(), 5s);
}

TEST(DispatcherCore, StopsTasksOfJobsThatAreOver) {
  driven_dispatcher x;
  x.enroll("ten");
  const auto job = begun(x.open(1, "ten")).id;
  const auto out = x.add_worker("host:1", 1, {}, {{task_id{1}, job}, {task_id{2}, job_id{99}}});
  ASSERT_EQ(all_of<stop_task>(out).size(), 1u);
  EXPECT_EQ(all_of<stop_task>(out)[0].task, task_id{2});
}

TEST(DispatcherCore, RefusesASecondWorkerAtADataAddress) {
  driven_dispatcher x;
  x.add_worker("host:1", 1);
  const auto out = x.add_worker("host:1", 2);
  EXPECT_EQ(answer_to<status>(x.last, out).code(), status_code::already_exists);
  EXPECT_EQ(all_of<dispatcher_command::log>(out).size(), 1u);
  EXPECT_TRUE(all_of<dispatcher_command::log>(x.add_worker("host:1", 2)).empty()) << "said twice";
  x.core.worker_disconnected(worker_id{1}, incarnation{1});
  EXPECT_EQ(answer_to<worker_registered>(x.last, x.add_worker("host:1", 2)).id, worker_id{1});
}

TEST(DispatcherCore, AnswersWhoAwaitsWorkersWhenTheyAreThere) {
  driven_dispatcher x;
  const request_token first{100};
  const request_token second{101};
  const auto out = x.take(x.core.await_workers(first, 1));
  EXPECT_EQ(all_of<watch_asker>(out).size(), 1u);
  x.take(x.core.await_workers(second, 1));
  x.core.asker_gone(second);
  const auto came = x.add_worker("host:1");
  EXPECT_TRUE(answer_to<status>(first, came).ok());
  EXPECT_EQ(all_of<answer>(came).size(), 2u) << "that one, and the worker";
}

} // namespace
} // namespace headrace::detail::test
