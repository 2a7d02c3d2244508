#include "headrace/client/server_timing.hpp"

#include "headrace/client/server.hpp"
#include "headrace/runtime/base/result.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

std::string refusal(std::optional<duration> asked, duration lease) {
  try {
    heartbeat_for(asked, lease);
    return {};
  } catch (const error& e) {
    return to_string(e.why());
  }
}

TEST(ServerTiming, HeartbeatsFitIntoTheLease) {
  EXPECT_EQ(heartbeat_for({}, 5s), 1s);
  EXPECT_EQ(heartbeat_for({}, 1h), 1s);
  EXPECT_EQ(heartbeat_for({}, 4s), 1s);
  EXPECT_EQ(heartbeat_for({}, 200ms), 50ms);
  EXPECT_EQ(heartbeat_for({}, 8ns), 2ns);
  EXPECT_EQ(heartbeat_for(100ms, 200ms), 100ms);
  EXPECT_EQ(heartbeat_for(3s, 1h), 3s);
}

TEST(ServerTiming, ALeaseThatOneLateMessageWouldEndIsRefused) {
  EXPECT_THAT(refusal(101ms, 200ms),
              AllOf(HasSubstr("invalid_argument"), HasSubstr("lease is 200 ms"),
                    HasSubstr("heartbeat is 101 ms"), HasSubstr("twice")));
  EXPECT_THAT(refusal(duration::max(), duration::max()), HasSubstr("twice"));
  EXPECT_THAT(refusal(0s, 5s), HasSubstr("heartbeat is 0 ms"));
  EXPECT_THAT(refusal(-1s, 5s), HasSubstr("heartbeat is -1000 ms"));
  EXPECT_THAT(refusal({}, 0s), HasSubstr("lease is 0 ms"));
}

TEST(ServerTiming, ServersLookAtIt) {
  EXPECT_THROW(dispatcher_server({.heartbeat = 1s, .lease = 1s}), error);
  EXPECT_THROW(local_cluster({.workers = 0, .heartbeat = 1s, .lease = 1s}), error);
  const local_cluster cluster{{.workers = 1, .lease = 3s}};
}

} // namespace
} // namespace headrace
