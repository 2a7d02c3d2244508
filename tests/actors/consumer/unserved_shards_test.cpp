#include "headrace/actors/consumer/consumer_core.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <optional>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// The only consumer of a job under a static policy. The job has informed it of two tasks.
class UnservedShards : public testing::Test {
protected:
  iteration_view view(std::vector<std::string> unserved) {
    return {.job = job_id{5},
            .version = ++version,
            .tasks = {{task_id{7}, incarnation{1}, "worker:1", {}, worker_id{1}},
                      {task_id{8}, incarnation{1}, "worker:2", {}, worker_id{2}}},
            .unserved = std::move(unserved)};
  }
  void reads(std::vector<std::string> unserved) {
    core.dispatcher_up(now);
    core.answered(1, view(std::move(unserved)), now);
    for (const auto* address : {"worker:1", "worker:2"}) core.linked(address, now);
  }
  void all_end() {
    for (auto id : {task_id{7}, task_id{8}})
      core.arrived(id, from_task{stream_end{0, task_outcome::exhausted}}, now);
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
  consumer_core core{
    {.dataset_id = "d", .parameters = {.mode = sharding_policy::data}, .worker_timeout = 10s},
    consumer_id{1},
    "dispatcher:1",
    out,
    logger{},
    now};
};

TEST_F(UnservedShards, AreNoEndWhenTheDispatcherIsAway) {
  reads({"second"});
  all_end();
  core.dispatcher_down(unavailable("cut"), now);
  EXPECT_FALSE(end()) << "nobody has read that shard";
}

TEST_F(UnservedShards, WithoutThemItsTasksSayTheEndWhenTheDispatcherIsAway) {
  reads({});
  all_end();
  core.dispatcher_down(unavailable("cut"), now);
  EXPECT_EQ(end(), status{});
}

TEST_F(UnservedShards, AreWaitedForForTheWorkerTimeoutAndNamed) {
  reads({"second:5000"});
  all_end();
  auto over = view({"second:5000"});
  over.tasks.clear();
  core.told(over, now);
  EXPECT_FALSE(end());
  const auto began = now;
  std::optional<status> how;
  while (!(how = end()) && now < began + 60s) {
    now = std::max(now, core.next_deadline().value());
    core.timer(now);
  }
  ASSERT_TRUE(how);
  EXPECT_EQ(how->code(), status_code::unavailable);
  EXPECT_THAT(how->message(), HasSubstr("no worker has come for 10 s for second:5000 of the "
                                        "worker_addresses of the service at dispatcher:1"));
  EXPECT_GE(now - began, 10s);
  EXPECT_LE(now - began, 13s);
}

} // namespace
} // namespace headrace::detail::test
