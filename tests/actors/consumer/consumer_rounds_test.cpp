#include "headrace/actors/consumer/consumer_core.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <variant>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

constexpr task_id task{7};

/// The core of a consumer that has come in the place of another one, with seat 0 of two. The other
/// seat is free, so that no epoch begins in which this consumer reads.
class ConsumerWithoutItsEpoch : public testing::Test {
protected:
  ConsumerWithoutItsEpoch() {
    core.dispatcher_up(now);
    core.answered(1, view, now);
    core.linked("worker:1", now);
  }
  /// Lets the trainer wait until it gets an error or the time `until` has come. The dispatcher
  /// answers each heartbeat.
  status waits_until(time_point until) {
    std::shared_ptr<const block> current;
    status how;
    while (out->try_next(current, how) == handout::outcome::nothing_yet && now < until) {
      now = std::max(now, core.next_deadline().value());
      for (const auto& x : core.timer(now)) {
        if (const auto* beat = std::get_if<consume::beat>(&x))
          core.heartbeat_answered({}, beat->at, now);
        else if (const auto* link = std::get_if<consume::make_link>(&x))
          core.not_linked(link->address, unavailable("a wall"), now);
      }
    }
    return how;
  }

  const time_point began{1h};
  time_point now = began;
  std::shared_ptr<handout> out = std::make_shared<handout>([] {}, [this] { return now; });
  iteration_view view{
    .job = job_id{5},
    .version = 1,
    .tasks = {{task, incarnation{1}, "worker:1", {}, worker_id{1}}},
    .shared = true,
    .rounds = {.consumers = 2, .now = {1, 0, {{task, 0}}}, .seats = {{consumer_id{1}, 0, 2}}}};
  consumer_core core{{.dataset_id = "d", .parameters = {.num_consumers = 2}, .rejoins = true},
                     consumer_id{1},
                     "dispatcher:1",
                     out,
                     logger{},
                     began};
};

TEST_F(ConsumerWithoutItsEpoch, BlamesTheConsumerThatIsMissingAndNoWorker) {
  EXPECT_EQ(waits_until(began + 200s), status{});
  const auto how = waits_until(began + 310s);
  EXPECT_THAT(how.message(), testing::HasSubstr("with consumer_index 1 of 2"));
}

TEST_F(ConsumerWithoutItsEpoch, GivesItsWorkersTheirTimeOnceTheEpochBegins) {
  EXPECT_EQ(waits_until(began + 200s), status{});
  const auto begins = now;
  ++view.version;
  view.rounds.now = {2, 30, {{task, 30}}};
  view.rounds.seats.push_back({consumer_id{2}, 1, 2});
  core.told(view, now);
  core.not_linked("worker:1", unavailable("a wall"), now);
  EXPECT_EQ(waits_until(begins + 55s), status{});
  EXPECT_THAT(waits_until(begins + 70s).message(), testing::HasSubstr("data port at worker:1"));
}

} // namespace
} // namespace headrace::detail::test
