#include "headrace/runtime/link/link_metrics.hpp"
#include "headrace/runtime/link/link_service.hpp"
#include "tests/runtime/link/two_nodes.hpp"
#include "tests/support/relay.hpp"

#include <fstream>
#include <future>
#include <thread>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using test::host;
using test::link_end;
using test::relay;
using test::same;
using test::sample;
using test::two_nodes;
using ::testing::HasSubstr;

TEST(Link, TellsBothEndsWhoTheOtherIs) {
  two_nodes n{{.node_id = 11, .role = "worker"}};
  EXPECT_EQ(n.near.link->peer_node(), 11u);
  EXPECT_EQ(n.near.link->peer_role(), "worker");
  EXPECT_EQ(n.far.link->peer_node(), 22u);
  EXPECT_EQ(n.far.link->peer_role(), "consumer");
  EXPECT_EQ(n.near.link->peer_boot_id(), n.far.link->peer_boot_id());
  EXPECT_FALSE(n.near.link->peer_boot_id().empty());
  EXPECT_EQ(n.near.link->peer_address(), "127.0.0.1:" + std::to_string(n.there.port));
  EXPECT_EQ(n.there.service.metrics().count(link_metric::accepted), 1u);
  EXPECT_EQ(n.here.metrics().count(link_metric::connected), 1u);
}

TEST(Link, CarriesMessagesOfAnySizeBothWays) {
  two_nodes n;
  uint64_t seed = 0;
  for (const auto& sizes : std::vector<std::vector<size_t>>{{},
                                                            {0},
                                                            {1},
                                                            {0, 0, 7},
                                                            {64 << 10},
                                                            {100, 256 << 10, 3},
                                                            {1 << 20, 1 << 20},
                                                            {(16 << 20) + 1},
                                                            {size_t{100} << 20}}) {
    ++seed;
    auto m = sample(seed, seed % 5, sizes);
    ASSERT_TRUE(n.near.link->send(m));
    auto got = n.far.next();
    ASSERT_TRUE(got) << to_string(n.far.closed());
    EXPECT_TRUE(same(m, *got)) << "seed " << seed;
    ASSERT_TRUE(n.far.link->send(*std::move(got)));
    got = n.near.next();
    ASSERT_TRUE(got);
    EXPECT_TRUE(same(m, *got)) << "seed " << seed;
  }
}

TEST(Link, KeepsTheOrderOfManyMessages) {
  two_nodes n;
  for (uint64_t i = 0; i < 20'000; ++i) {
    link_message m{.header = buffer::copy_of(&i, sizeof(i)), .payload = {}};
    if (i % 100 == 0)
      m.payload.push_back(mutable_buffer{300'000}.freeze());
    ASSERT_TRUE(n.near.link->send(std::move(m)));
  }
  for (uint64_t i = 0; i < 20'000; ++i) {
    auto got = n.far.next();
    ASSERT_TRUE(got);
    ASSERT_EQ(got->header.as<uint64_t>()[0], i);
  }
  const auto& counted = n.there.service.metrics();
  EXPECT_EQ(counted.count(link_metric::messages_in), 20'000u);
  EXPECT_EQ(counted.count(link_metric::bytes_in), 20'000u * 8 + 200u * 300'000);
  n.near.link->close(cancelled("enough"));
  EXPECT_FALSE(n.near.closed());
  EXPECT_EQ(n.here.metrics().count(link_metric::bytes_out), counted.count(link_metric::bytes_in));
  EXPECT_EQ(n.here.metrics().count(link_metric::messages_out),
            counted.count(link_metric::messages_in));
}

TEST(Link, TakesMessagesFromSeveralThreads) {
  two_nodes n;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([&n, t] {
      for (uint64_t i = 0; i < 2000; ++i)
        n.near.link->send({.channel = t, .header = buffer::copy_of(&i, sizeof(i)), .payload = {}});
    });
  uint64_t next[4] = {};
  for (int i = 0; i < 8000; ++i) {
    auto got = n.far.next();
    ASSERT_TRUE(got);
    ASSERT_EQ(got->header.as<uint64_t>()[0], next[got->channel]++);
  }
  for (auto& x : threads) x.join();
}

TEST(Link, KeepsWhatArrivesBeforeTheHandlersAreSet) {
  host there;
  link_service here;
  auto made = test::connect(here, there.port);
  ASSERT_TRUE(made.ok());
  auto m = sample(1, 2, {1000});
  (*made)->send(m);
  link_end far{there.accepted.take().value()};
  auto got = far.next();
  ASSERT_TRUE(got);
  EXPECT_TRUE(same(m, *got));
}

TEST(Link, CountsWhatWaitsAndTellsWhenItIsGone) {
  host there;
  link_service here;
  auto made = test::connect(here, there.port);
  ASSERT_TRUE(made.ok());
  link_end near{*made};
  auto accepted = there.accepted.take().value();
  // The other end does not read yet, and no socket buffers so many bytes.
  for (int i = 0; i < 8; ++i) near.link->send(sample(1, 1, {16 << 20}));
  EXPECT_GT(near.link->queued_bytes(), size_t{32} << 20);
  link_end far{accepted};
  EXPECT_TRUE(near.drained());
  EXPECT_EQ(near.link->queued_bytes(), 0u);
}

TEST(Link, TellsBothEndsOnceWhenOneCloses) {
  two_nodes n;
  n.near.link->close(cancelled("enough"));
  n.near.link->close(cancelled("again"));
  EXPECT_EQ(n.near.closed(), cancelled("enough"));
  EXPECT_EQ(n.far.closed().code(), status_code::unavailable);
  EXPECT_FALSE(n.near.link->send({}));
  n.far.link->close(cancelled("too late"));
  EXPECT_EQ(n.near.times_closed(), 1u);
  EXPECT_EQ(n.far.times_closed(), 1u);
}

TEST(Link, TellsOfTheEndAlsoWhenHandlersComeLater) {
  host there;
  link_service here;
  auto made = test::connect(here, there.port);
  ASSERT_TRUE(made.ok());
  (*made)->close(cancelled("enough"));
  link_end near{*made};
  EXPECT_EQ(near.closed(), cancelled("enough"));
}

TEST(Link, EndsWithItsService) {
  auto here = std::make_unique<link_service>();
  host there;
  auto made = test::connect(*here, there.port);
  ASSERT_TRUE(made.ok());
  link_end near{*made};
  link_end far{there.accepted.take().value()};
  here.reset();
  EXPECT_EQ(near.closed().code(), status_code::cancelled);
  EXPECT_EQ(far.closed().code(), status_code::unavailable);
  EXPECT_FALSE(near.link->send({}));
}

TEST(Link, RefusesToSendWhatThePeerWouldRefuse) {
  two_nodes n;
  EXPECT_FALSE(n.near.link->send({.header = buffer::copy_of("123", 3), .payload = {}}));
  EXPECT_FALSE(
    n.near.link->send({.header = mutable_buffer{(4 << 20) + 8}.freeze(), .payload = {}}));
  EXPECT_FALSE(n.near.link->send({.header = {}, .payload = std::vector<buffer>(4097)}));
  EXPECT_TRUE(n.near.link->send(sample(1, 1, {})));
  EXPECT_TRUE(n.far.next());
}

TEST(Link, EndsInMidMessageWhenTheNetworkIsCut) {
  for (auto way : {relay::direction::forward, relay::direction::back}) {
    host there;
    relay between{there.port};
    link_service here;
    auto made = test::connect(here, between.port());
    ASSERT_TRUE(made.ok()) << to_string(made.status());
    link_end near{*made};
    link_end far{there.accepted.take().value()};
    auto& from = way == relay::direction::forward ? near : far;
    auto& to = way == relay::direction::forward ? far : near;
    auto& receiving = way == relay::direction::forward ? there.service : here;
    from.link->send(sample(1, 1, {100}));
    ASSERT_TRUE(to.next());
    between.cut_after(way, 500'000);
    from.link->send(sample(2, 1, {1'000'000}));
    EXPECT_THAT(to.closed().message(), HasSubstr("middle of a message"));
    EXPECT_EQ(from.closed().code(), status_code::unavailable);
    EXPECT_EQ(receiving.metrics().count(link_metric::refused, {{"cause", "truncated"}}), 1u);
  }
}

TEST(Link, UsesSeveralThreads) {
  host there{{.threads = 2}};
  link_service here{{.threads = 2}};
  std::vector<std::unique_ptr<link_end>> near, far;
  for (int i = 0; i < 4; ++i) {
    auto made = test::connect(here, there.port);
    ASSERT_TRUE(made.ok());
    near.push_back(std::make_unique<link_end>(*made));
    far.push_back(std::make_unique<link_end>(there.accepted.take().value()));
  }
  for (uint64_t i = 0; i < 4; ++i) near[i]->link->send(sample(i, 1, {2 << 20}));
  for (auto& x : far) EXPECT_TRUE(x->next());
}

} // namespace
} // namespace headrace::detail
