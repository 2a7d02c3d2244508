#include "headrace/actors/consumer/consumer_core.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

/// A consumer without a trainer, a dispatcher or a task: the test says what comes from these.
class ConsumerCore : public testing::Test {
protected:
  const time_point began{1h};
  time_point now = began;
  std::shared_ptr<handout> out = std::make_shared<handout>([] {});
  consumer_core core{{.dataset_id = "d", .worker_timeout = 10s},
                     consumer_id{1},
                     "dispatcher:1",
                     out,
                     logger{},
                     began};
};

TEST_F(ConsumerCore, LooksAtItsWaitsAHeartbeatAfterItBegan) {
  EXPECT_EQ(core.next_deadline(), began + lease_timing{}.heartbeat);
}

} // namespace
} // namespace headrace::test
