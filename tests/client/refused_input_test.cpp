#include "headrace/client/internal/service_node.hpp"
#include "headrace/client/server.hpp"
#include "headrace/client/service_status.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "tests/client/support/command.hpp"
#include "tests/client/support/own_cluster.hpp"
#include "tests/runtime/link/raw_peer.hpp"
#include "tests/runtime/node/echo_actor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace headrace::detail::test {
namespace {

using testing::HasSubstr;

/// The first status of a dispatcher that satisfies `good`; if none does within 60 s, the last one.
service_status status_when(const std::string& dispatcher,
                           const std::function<bool(const service_status&)>& good) {
  const auto end = clock::system().now() + std::chrono::seconds{60};
  for (;;)
    if (auto now = get_service_status(dispatcher, std::chrono::seconds{30}).value();
        good(now) || clock::system().now() > end)
      return now;
}

TEST(RefusedInput, DamagedMessagesToADispatcherAreAnsweredCountedAndShown) {
  dispatcher_server dispatcher;
  node stranger;
  const auto to = connect(stranger, parse_address(dispatcher.target()).value()).value();
  for (uint64_t i = 1; i <= 3; ++i) {
    const auto answer = ask_raw(stranger, to.actor, envelope::broken("bent")).value();
    ASSERT_TRUE(answer->isBadMessage());
    EXPECT_EQ(answer->getBadMessage().getCount(), i);
  }
  EXPECT_EQ(get_service_status(dispatcher.target()).value().bad_messages(), 3u);
  EXPECT_THAT(run_command({"status", "--dispatcher", dispatcher.target()}).text,
              HasSubstr("3 bad messages"));
}

TEST(RefusedInput, DamagedMessagesToAWorkerAreAnsweredCountedAndShown) {
  test_dispatcher dispatcher;
  test_worker worker{dispatcher.target()};
  dispatcher.await_workers(1);
  const auto to = caf::actor_cast<published_actor>(worker.actors.next());
  for (uint64_t i = 1; i <= 2; ++i) {
    const auto answer = ask_raw(worker.here(), to, envelope::broken("bent")).value();
    ASSERT_TRUE(answer->isBadMessage());
    EXPECT_EQ(answer->getBadMessage().getCount(), i);
  }
  EXPECT_TRUE(dispatcher.shows([](const service_status& x) {
    return x.workers.size() == 1 && x.workers[0].bad_messages() == 2;
  }));
  EXPECT_THAT(run_command({"status", "--dispatcher", dispatcher.target()}).text,
              HasSubstr("(2 bad messages)"));
}

TEST(RefusedInput, PeersOfAnotherMajorVersionAreCountedAndShown) {
  dispatcher_server dispatcher;
  node stranger;
  const auto to = connect(stranger, parse_address(dispatcher.target()).value()).value();
  ASSERT_TRUE(ask_raw(stranger, to.actor, make_hello({.version = {7, 0}}, 1)));
  EXPECT_EQ(get_service_status(dispatcher.target()).value().refused_peers(), 1u);
}

TEST(RefusedInput, RandomBytesAtAWorkersDataPortAreCountedAndShown) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random{seed};
  dispatcher_server dispatcher;
  worker_server worker{{.dispatcher = dispatcher.target()}};
  for (int i = 0; i < 2; ++i) {
    std::string noise(4096, '\0');
    for (auto& x : noise) x = static_cast<char>(random());
    noise[0] = 'x'; // no frame of a link begins with this byte
    raw_peer stranger{worker.data_port()};
    stranger.send(noise);
    stranger.read_all();
    EXPECT_FALSE(stranger.timed_out());
  }
  const std::map<std::string, uint64_t> expected{{"bad_magic", 2}};
  const auto here = node::process(service_node(node_role::consumer))
                      .value(); // the requests for the status share this node
  const auto shown = status_when(dispatcher.target(), [&](const service_status& x) {
    return x.workers.size() == 1 && x.workers[0].refused_links() == expected;
  });
  ASSERT_EQ(shown.workers.size(), 1u);
  EXPECT_EQ(shown.workers[0].refused_links(), expected);
  EXPECT_THAT(run_command({"status", "--dispatcher", dispatcher.target()}).text,
              HasSubstr("(refused links: 2 bad_magic)"));
  EXPECT_THAT(run_command({"status", "--json", "--dispatcher", dispatcher.target()}).text,
              HasSubstr(R"("refused_links":{"bad_magic":2})"));
}

TEST(RefusedInput, ConnectionsThatSayNothingMakeRoomAndAreCountedAndShown) {
  dispatcher_server dispatcher;
  worker_server worker{{.dispatcher = dispatcher.target()}};
  std::vector<raw_peer> strangers;
  for (int i = 0; i < 67; ++i) strangers.emplace_back(worker.data_port());
  const auto here = node::process(service_node(node_role::consumer))
                      .value(); // the requests for the status share this node
  // The remaining connections are refused as `silent` some time later.
  const auto shown = status_when(dispatcher.target(), [&](const service_status& x) {
    return x.workers.size() == 1 && x.workers[0].refused_links().contains("crowded");
  });
  ASSERT_EQ(shown.workers.size(), 1u);
  EXPECT_EQ(shown.workers[0].refused_links().at("crowded"), 3u);
  EXPECT_THAT(run_command({"status", "--dispatcher", dispatcher.target()}).text,
              HasSubstr("(refused links: 3 crowded"));
}

} // namespace
} // namespace headrace::detail::test
