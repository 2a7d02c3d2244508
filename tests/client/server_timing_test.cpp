#include "headrace/client/internal/server_timing.hpp"

#include "headrace/client/server.hpp"
#include "headrace/runtime/base/result.hpp"
#include "tests/runtime/link/raw_peer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

std::string message_of_refusal(std::optional<duration> asked, duration lease) {
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

TEST(ServerTiming, RefusesALeaseThatNobodyWouldTake) {
  EXPECT_THAT(message_of_refusal({}, 1h + 1ms),
              AllOf(HasSubstr("lease is"), HasSubstr("at most an hour")));
}

TEST(ServerTiming, HeartbeatsFitIntoTheTimeOutOfClients) {
  EXPECT_EQ(heartbeat_for({}, 5s, {}), 1s);
  EXPECT_EQ(heartbeat_for({}, 5s, {.client_timeout = 2s}), 500ms);
  EXPECT_EQ(heartbeat_for({}, 200ms, {.client_timeout = 2s}), 50ms);
  const auto refused = [](std::optional<duration> asked, const job_terms& jobs) {
    try {
      heartbeat_for(asked, 5s, jobs);
      return std::string{};
    } catch (const error& e) {
      return to_string(e.why());
    }
  };
  EXPECT_THAT(refused(1s, {.client_timeout = 1s}),
              AllOf(HasSubstr("client_timeout is 1000 ms"), HasSubstr("trainers would die")));
  EXPECT_THAT(refused({}, {.client_timeout = 0s}), HasSubstr("client_timeout is 0 ms"));
  EXPECT_THAT(refused({}, {.gc_timeout = -1s}), HasSubstr("job_gc_timeout is -1000 ms"));
  EXPECT_THAT(refused({}, {.gc_check_interval = 0s}), HasSubstr("job_gc_check_interval is 0 ms"));
  EXPECT_EQ(refused({}, {.gc_timeout = 0s}), "");
  EXPECT_EQ(refused({}, {.gc_timeout = std::nullopt}), "");
}

TEST(ServerTiming, ALinkIsAsLongSilentAsALeaseBeforeItIsGivenUp) {
  const auto same = [](const link_liveness& a, const link_liveness& b) {
    return a.ping_every == b.ping_every && a.silent_for == b.silent_for;
  };
  EXPECT_TRUE(same(liveness_for(5s), {}));
  EXPECT_TRUE(same(liveness_for(200ms), {40ms, 200ms}));
  EXPECT_TRUE(same(liveness_for(1h), {12min, 1h}));
  for (const duration lease : {duration{1}, duration{1ms}, duration{3ms}, duration{48h}})
    EXPECT_TRUE(liveness_for(lease).check().ok()) << lease.count();
  EXPECT_EQ(liveness_for(48h).silent_for, 48h);
}

/// The interval of pings that a worker announces in the hello that it sends to each peer at this
/// data port.
duration promised_pings(uint16_t port) {
  test::raw_peer peer{port};
  peer.send(test::hello_bytes());
  std::string bytes;
  const auto read = [&](size_t size) {
    while (bytes.size() < size) {
      const auto more = peer.read(size - bytes.size());
      if (more.empty())
        throw std::runtime_error{"no hello came"};
      bytes += more;
    }
    return reinterpret_cast<const std::byte*>(bytes.data());
  };
  const auto hello = load_prefix(read(sizeof(frame_prefix)));
  const auto* whole = read(sizeof(frame_prefix) + hello.header_bytes);
  return decode_hello(buffer::copy_of(whole + sizeof(frame_prefix), hello.header_bytes))
    .value()
    .ping_every;
}

duration promised_pings(const local_cluster_options& options) {
  return promised_pings(local_cluster{options}.ports().at(1));
}

TEST(ServerTiming, TheLinksOfAWorkerFollowTheLeaseThatItIsGiven) {
  const auto promised = [](std::optional<duration> lease) {
    worker_server_options options{.dispatcher = "127.0.0.1:1"};
    options.lease = lease.value_or(options.lease);
    const worker_server server{options};
    return promised_pings(server.data_port());
  };
  EXPECT_EQ(promised({}), 1s);
  EXPECT_EQ(promised(30s), 6s);
  EXPECT_THROW(promised(0s), error);
}

TEST(ServerTiming, TheLinksOfAClustersWorkersFollowItsLease) {
  EXPECT_EQ(promised_pings({.workers = 1}), 1s);
  EXPECT_EQ(promised_pings({.workers = 1, .lease = 1h}), 12min);
  EXPECT_EQ(promised_pings({.workers = 1, .endpoint = {.liveness = link_liveness{2s, 9s}}}), 2s);
}

TEST(ServerTiming, ALeaseThatOneLateMessageWouldEndIsRefused) {
  EXPECT_THAT(message_of_refusal(101ms, 200ms),
              AllOf(HasSubstr("invalid_argument"), HasSubstr("lease is 200 ms"),
                    HasSubstr("heartbeat is 101 ms"), HasSubstr("twice")));
  EXPECT_THAT(message_of_refusal(1h, 1h), HasSubstr("twice"));
  EXPECT_THAT(message_of_refusal(duration::max(), duration::max()), HasSubstr("at most an hour"));
  EXPECT_THAT(message_of_refusal(0s, 5s), HasSubstr("heartbeat is 0 ms"));
  EXPECT_THAT(message_of_refusal(-1s, 5s), HasSubstr("heartbeat is -1000 ms"));
  EXPECT_THAT(message_of_refusal({}, 0s), HasSubstr("lease is 0 ms"));
}

TEST(ServerTiming, ServersLookAtIt) {
  EXPECT_THROW(dispatcher_server({.heartbeat = 1s, .lease = 1s}), error);
  EXPECT_THROW(local_cluster({.workers = 0, .heartbeat = 1s, .lease = 1s}), error);
  const local_cluster cluster{{.workers = 1, .lease = 3s}};
}

} // namespace
} // namespace headrace::detail
