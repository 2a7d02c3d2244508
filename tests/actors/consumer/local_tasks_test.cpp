#include "headrace/actors/consumer/consumer_core.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <optional>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

/// A consumer in a process with the place 7. Its job has tasks in this process and in others.
class LocalTasks : public testing::Test {
protected:
  iteration_view view(target_workers targets) {
    return {.job = job_id{5},
            .version = ++version,
            .tasks = {{task_id{7}, incarnation{1}, "here:1", {}, worker_id{1}, {7, false}},
                      {task_id{8}, incarnation{1}, "there:1", {}, worker_id{2}, {8, false}},
                      {task_id{9}, incarnation{1}, "theirs:1", {}, worker_id{3}, {9, true}}},
            .targets = targets};
  }
  static consumer_options options(bool beside_a_worker) {
    return {.dataset_id = "d",
            .place = 7,
            .beside_a_worker = beside_a_worker,
            .parameters = {.mode = sharding_policy::dynamic, .targets = target_workers::local},
            .worker_timeout = 10s};
  }
  void begin(bool beside_a_worker = true) {
    core.emplace(options(beside_a_worker), consumer_id{1}, "dispatcher:1", out, logger{}, now);
    core->dispatcher_up(now);
  }
  std::vector<std::string> links_after(const consume::commands& all) {
    std::vector<std::string> addresses;
    for (const auto& x : all)
      if (const auto* one = std::get_if<consume::make_link>(&x))
        addresses.push_back(one->address);
    return addresses;
  }
  void pass(duration by) {
    const auto end = now + by;
    while (core->next_deadline() && *core->next_deadline() <= end) {
      now = std::max(now, *core->next_deadline());
      for (const auto& x : core->timer(now))
        if (const auto* said = std::get_if<consume::beat>(&x))
          core->heartbeat_answered({}, said->at, now);
    }
    now = end;
  }
  /// The status with which the trainer's iteration ended; nullopt: it has not ended.
  std::optional<status> end() {
    std::shared_ptr<const block> rows;
    status how;
    return out->try_next(rows, how) == handout::outcome::over ? std::optional{how} : std::nullopt;
  }

  time_point now{1h};
  uint64_t version = 0;
  std::shared_ptr<handout> out = std::make_shared<handout>([] {}, [this] { return now; });
  std::optional<consumer_core> core;
};

TEST_F(LocalTasks, AreAllThatAreReadUnderLocal) {
  begin();
  EXPECT_THAT(links_after(core->answered(1, view(target_workers::local), now)),
              ElementsAre("here:1"));
}

TEST_F(LocalTasks, AreReadBesideTheOthersUnderAnyAndAuto) {
  for (auto targets : {target_workers::any, target_workers::automatic}) {
    begin();
    EXPECT_THAT(links_after(core->answered(1, view(targets), now)),
                ElementsAre("here:1", "there:1"))
      << "the third serves its own process alone";
  }
}

TEST_F(LocalTasks, OfOthersAreNotLinkedToBeforeTheyRunEither) {
  begin();
  auto told = view(target_workers::local);
  std::swap(told.tasks, told.starting);
  EXPECT_THAT(links_after(core->answered(1, told, now)), ElementsAre("here:1"));
}

TEST_F(LocalTasks, AreAskedForWithThePlaceOfTheProcess) {
  core.emplace(options(true), consumer_id{1}, "dispatcher:1", out, logger{}, now);
  const auto asked = core->dispatcher_up(now);
  EXPECT_EQ(std::get<consume::ask>(asked.at(0)).what.place, 7u);
}

TEST_F(LocalTasks, WithoutAnyWorkerInTheProcessLocalIsAnErrorAtOnce) {
  begin(false);
  core->answered(1, view(target_workers::local), now);
  const auto how = end();
  ASSERT_TRUE(how);
  EXPECT_EQ(how->code(), status_code::failed_precondition);
  EXPECT_THAT(how->message(), HasSubstr("target_workers is LOCAL"));
  EXPECT_THAT(how->message(), HasSubstr("no worker of this process is registered"));
  EXPECT_THAT(how->message(), HasSubstr("dispatcher:1"));
}

TEST_F(LocalTasks, WithAWorkerThatDoesNotRegisterThereLocalIsAnErrorAfterTheTimeOut) {
  begin();
  auto told = view(target_workers::local);
  told.tasks.erase(told.tasks.begin());
  core->answered(1, told, now);
  ASSERT_FALSE(end());
  pass(9s);
  ASSERT_FALSE(end());
  pass(4s);
  const auto how = end();
  ASSERT_TRUE(how);
  EXPECT_EQ(how->code(), status_code::failed_precondition);
  EXPECT_THAT(how->message(), HasSubstr("no worker of this process is registered"));
}

TEST_F(LocalTasks, WaitForWhatTasksOfOtherProcessesMayGiveBack) {
  begin();
  core->answered(1, view(target_workers::local), now);
  ASSERT_FALSE(end());
  auto told = view(target_workers::local);
  told.tasks.erase(told.tasks.begin());
  core->told(told, now);
  pass(1min);
  EXPECT_FALSE(end());
  told.version = ++version;
  told.finished = true;
  core->told(told, now);
  ASSERT_TRUE(end());
  EXPECT_TRUE(end()->ok());
}

} // namespace
} // namespace headrace::detail::test
