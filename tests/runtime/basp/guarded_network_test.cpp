#include "headrace/runtime/basp/guarded_network.hpp"

#include "headrace/runtime/basp/network_guard.hpp"
#include "headrace/runtime/node/node_config.hpp"
#include "headrace/runtime/node/node_metrics.hpp"
#include "tests/runtime/basp/basp_frames.hpp"
#include "tests/runtime/link/raw_peer.hpp"
#include "tests/runtime/node/echo_actor.hpp"
#include "tests/support/patience.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <list>
#include <mutex>
#include <thread>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// The number of the actor in the handshake that an actor port sends. Before it, the handshake has
/// the name of the node and a list of names of applications, which are skipped.
uint64_t published_at(raw_peer& peer) {
  const auto hello = basp_frames_of(peer.read(4096)).at(0);
  basp_content content{hello.payload};
  EXPECT_TRUE(content.node() && content.texts(8));
  return content.word().value();
}

uint64_t refused_by(const node& server, basp_refusal why) {
  return server.metrics()->count(actor_port_metric::refused,
                                 {{"cause", std::string{to_string(why)}}});
}

struct GuardedNetwork : testing::Test {
  std::mutex mutex;
  std::vector<std::string> lines;
  node server{{.log = logger::open({.level = log_level::warn,
                                    .sink =
                                      [this](std::string_view x) {
                                        std::lock_guard hold{mutex};
                                        lines.emplace_back(x);
                                      }})
                        .value()}};

  void SetUp() override { ASSERT_TRUE(listen(server, spawn_echo(server))); }

  uint64_t refused(basp_refusal why) { return refused_by(server, why); }
  /// True if the server closes a connection that has sent these bytes.
  bool is_closed_after(const std::string& bytes) {
    raw_peer peer{server.actor_port()};
    peer.send(bytes);
    peer.read_all();
    return !peer.timed_out();
  }
  void serves_others() {
    node client;
    auto made = connect(client, address_of(server), patience);
    ASSERT_TRUE(made) << to_string(made.status());
    EXPECT_TRUE(ask(client, made->actor, make_ok(1), patience));
  }
};

TEST_F(GuardedNetwork, LivesOnAfterTheBytesThatEndedTheFramework) {
  EXPECT_TRUE(is_closed_after(std::string(8, '\0') + std::string(64, '\xFF')));
  EXPECT_TRUE(is_closed_after(std::string("\1", 1) + std::string(31, '\0'))) << "no payload";
  EXPECT_EQ(refused(basp_refusal::out_of_turn), 1u);
  EXPECT_EQ(refused(basp_refusal::malformed), 1u);
  serves_others();
  std::lock_guard hold{mutex};
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[0], HasSubstr("out_of_turn"));
}
TEST_F(GuardedNetwork, RefusesHugeAnnouncementsBeforeTheyAreAllocated) {
  auto huge = basp_client_handshake('x').header;
  huge.payload_bytes = 0xFFFF'FF00;
  EXPECT_TRUE(is_closed_after(basp_frame{huge, {}}.bytes()));
  EXPECT_EQ(refused(basp_refusal::oversized), 1u);
  serves_others();
}
TEST_F(GuardedNetwork, RefusesToEndActorsForStrangers) {
  raw_peer peer{server.actor_port()};
  const auto door = published_at(peer);
  peer.send(basp_client_handshake('x').bytes());
  peer.send(
    basp_direct(basp_bytes{}.types("@<>+@error").error("die"), basp_async, 7, door).bytes());
  peer.read_all();
  EXPECT_FALSE(peer.timed_out());
  EXPECT_EQ(refused(basp_refusal::foreign), 1u);
  serves_others();
}
TEST_F(GuardedNetwork, ReadsMessagesThatComeInPieces) {
  node client;
  auto made = connect(client, address_of(server), patience).value();
  const auto large = make_failure(not_found(std::string(size_t{5} << 20, 'x')), 3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ask(client, made.actor, large, patience));
  EXPECT_EQ(server.metrics()->count(node_metric::bad_messages), 0u);
}
TEST_F(GuardedNetwork, KeepsOnlySoManyThatHaveNotGreeted) {
  node client;
  auto made = connect(client, address_of(server), patience).value();
  raw_peer greeter{server.actor_port()};
  ASSERT_FALSE(greeter.read(1).empty());
  greeter.send(basp_client_handshake('g').bytes());
  ASSERT_TRUE(ask(client, made.actor, make_ok(1), patience)); // by now the greeting was read
  const auto most = guarded_network_options{}.most_ungreeted;
  std::list<raw_peer> silent;
  for (size_t i = 0; i < most + 3; ++i) {
    silent.emplace_back(server.actor_port());
    ASSERT_FALSE(silent.back().read(1).empty());
  }
  auto at = silent.begin();
  for (int i = 0; i < 3; ++i, ++at) {
    at->read_all();
    EXPECT_FALSE(at->timed_out());
  }
  EXPECT_EQ(refused(basp_refusal::crowded), 3u);
  EXPECT_TRUE(ask(client, made.actor, make_ok(1), patience));
  serves_others();
}
TEST(GuardedNetworkBounds, RefusesWhoAsksOnAndNeverReads) {
  const node_options options{.role = node_role::dispatcher,
                             .metrics = std::make_shared<metric_registry>()};
  caf::actor_system_config config;
  configure(config, options);
  // Replaces the network that `configure` has loaded.
  load_guarded_network(config, {.metrics = options.metrics, .most_unread_bytes = 1 << 20});
  caf::actor_system system{config};
  const auto server = make_node_in(system, options);
  ASSERT_TRUE(listen(*server, spawn_echo(*server)));
  raw_peer peer{server->actor_port()};
  const auto door = published_at(peer);
  peer.send(basp_client_handshake('x').bytes());
  const std::string request =
    basp_direct(basp_bytes{}.types("@<>+headrace::detail::envelope").count(0), basp_async | 5, 7,
                door)
      .bytes();
  std::string many;
  for (int i = 0; i < 1000; ++i) many += request;
  const auto unread = [&] { return refused_by(*server, basp_refusal::unread); };
  const auto end = clock::system().now() + patience;
  while (unread() == 0 && clock::system().now() < end) peer.send(many);
  EXPECT_EQ(unread(), 1u);
}
TEST(GuardedNetworkTime, ClosesThoseThatDoNotGreetInTime) {
  node server{{.lease = 200ms}};
  ASSERT_TRUE(listen(server, spawn_echo(server)));
  raw_peer silent{server.actor_port()};
  silent.read_all();
  EXPECT_FALSE(silent.timed_out());
  EXPECT_EQ(refused_by(server, basp_refusal::silent), 1u);
}
TEST(GuardedNetworkTime, GivesUpTheDescriptorsOfThoseThatAreSilent) {
  node server{{.lease = 200ms}};
  ASSERT_TRUE(listen(server, spawn_echo(server)));
  const auto descriptors = [] {
    const std::filesystem::directory_iterator all{"/proc/self/fd"};
    return std::distance(begin(all), end(all));
  };
  const auto before = descriptors();
  // These peers greet, send nothing more, and do not close their side.
  std::list<raw_peer> silent;
  for (char i = 1; i <= 8; ++i) {
    silent.emplace_back(server.actor_port());
    silent.back().send(basp_client_handshake(i).bytes());
  }
  for (auto& x : silent) {
    x.read_all();
    EXPECT_FALSE(x.timed_out());
  }
  const auto end = clock::system().now() + patience;
  while (descriptors() > before + 8 && clock::system().now() < end) std::this_thread::yield();
  EXPECT_EQ(descriptors(), before + 8) << "their own";
}

} // namespace
} // namespace headrace::detail::test
