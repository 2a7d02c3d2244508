#include "headrace/runtime/link/greeting_crowd.hpp"
#include "headrace/runtime/link/link_metrics.hpp"
#include "tests/runtime/link/raw_peer.hpp"
#include "tests/runtime/link/two_nodes.hpp"
#include "tests/support/few_descriptors.hpp"

#include <list>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using test::few_descriptors;
using test::hello_bytes;
using test::host;
using test::link_end;
using test::raw_peer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(GreetingCrowd, DropsTheOldestOfTooMany) {
  greeting_crowd crowd;
  std::vector<int> dropped;
  std::vector<greeting_crowd::ticket> tickets;
  for (int i = 0; i < 5; ++i)
    tickets.push_back(crowd.enter(3, [&dropped, i] { dropped.push_back(i); }));
  EXPECT_THAT(dropped, ElementsAre(0, 1));
  EXPECT_EQ(crowd.size(), 3u);
  EXPECT_FALSE(crowd.leave(tickets[0])) << "it was dropped";
  EXPECT_TRUE(crowd.leave(tickets[2]));
  EXPECT_FALSE(crowd.leave(tickets[2]));
  crowd.replace(tickets[3], [&dropped] { dropped.push_back(33); });
  crowd.replace(tickets[1], [&dropped] { dropped.push_back(11); });
  crowd.enter(3, [] {});
  EXPECT_THAT(dropped, ElementsAre(0, 1));
  crowd.enter(3, [] {});
  EXPECT_THAT(dropped, ElementsAre(0, 1, 33));
}

TEST(LinkCrowd, TheOldestConnectionThatDidNotGreetMakesRoom) {
  host there{{.handshake_timeout = 1h, .most_greeting = 3}};
  std::list<raw_peer> silent;
  for (int i = 0; i < 4; ++i) {
    silent.emplace_back(there.port);
    silent.back().send(hello_bytes().substr(0, 3));
  }
  EXPECT_EQ(silent.front().read_all(), "");
  EXPECT_FALSE(silent.front().timed_out());
  auto why = there.refused.take();
  ASSERT_TRUE(why);
  EXPECT_EQ(why->code(), status_code::resource_exhausted);
  EXPECT_THAT(why->message(), HasSubstr("more than 3 connections"));
  EXPECT_EQ(there.service.metrics().count(link_metric::refused, {{"cause", "crowded"}}), 1u);
  // A peer that greets is accepted. Peers that have greeted do not count as pending.
  std::list<link_end> ends;
  link_service here;
  for (int i = 0; i < 8; ++i) {
    auto made = test::connect(here, there.port);
    ASSERT_TRUE(made.ok()) << to_string(made.status());
    ends.emplace_back(*made);
    ends.emplace_back(there.accepted.take().value());
  }
  EXPECT_EQ(there.service.metrics().count(link_metric::accepted), 8u);
  // At most three connections may wait for a greeting, so one more silent peer had to make room for
  // the first of these links. The last two silent peers may still greet.
  EXPECT_EQ(there.service.metrics().count(link_metric::refused, {{"cause", "crowded"}}), 2u);
  silent.back().send(hello_bytes().substr(3));
  EXPECT_TRUE(there.accepted.take());
}

TEST(LinkCrowd, WhoIsTurnedAwayHasTimeToReadWhyUntilOthersNeedTheRoom) {
  host there{{.handshake_timeout = 1h, .most_greeting = 2}};
  std::list<raw_peer> others;
  for (int i = 0; i < 20; ++i) {
    others.emplace_back(there.port);
    others.back().send("GET / HTTP/1.1\r\n\r\n");
    ASSERT_TRUE(there.refused.take());
  }
  EXPECT_EQ(there.service.metrics().count(link_metric::refused, {{"cause", "bad_magic"}}), 20u);
  EXPECT_EQ(there.service.metrics().count(link_metric::refused, {{"cause", "crowded"}}), 0u)
    << "they were refused already";
}

TEST(LinkCrowd, MustBeOfSome) { EXPECT_THROW((link_service{{.most_greeting = 0}}), error); }

struct resting_host {
  resting_host() {
    auto bound = service.listen("127.0.0.1", 0,
                                [this](std::shared_ptr<link> x) { accepted.put(std::move(x)); });
    EXPECT_TRUE(bound.ok()) << to_string(bound.status());
    port = *bound;
  }
  test::mailbox<std::shared_ptr<link>> accepted;
  test::mailbox<status> paused;
  link_service service{{.on_paused = [this](const status& why) { paused.put(why); }}};
  uint16_t port = 0;
};

TEST(LinkListen, RestsWhileHalfOfTheDescriptorsAreInUse) {
  resting_host there;
  few_descriptors few{20};
  few.take_half();
  raw_peer peer{there.port};
  peer.send(hello_bytes());
  auto why = there.paused.take();
  ASSERT_TRUE(why);
  EXPECT_EQ(why->code(), status_code::resource_exhausted);
  EXPECT_THAT(why->message(), HasSubstr("half of the descriptors"));
  EXPECT_EQ(there.service.metrics().count(link_metric::accepted), 0u);
  few.give_back();
  EXPECT_TRUE(there.accepted.take());
  // A second shortage is reported, too.
  few.take_half();
  raw_peer next{there.port};
  EXPECT_TRUE(there.paused.take());
}

TEST(LinkListen, OutlivesTheLastDescriptor) {
  resting_host there;
  few_descriptors few{20};
  few.take_all();
  few.give_one_back();
  raw_peer peer{there.port};
  peer.send(hello_bytes());
  EXPECT_TRUE(there.paused.take());
  EXPECT_EQ(there.service.metrics().count(link_metric::accepted), 0u);
  few.give_back();
  EXPECT_TRUE(there.accepted.take());
}

} // namespace
} // namespace headrace::detail
