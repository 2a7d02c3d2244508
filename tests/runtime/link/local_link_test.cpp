#include "headrace/runtime/base/boot_id.hpp"
#include "headrace/runtime/link/local_link.hpp"
#include "headrace/runtime/link/transport_registry.hpp"
#include "tests/runtime/link/link_fixture.hpp"

#include <thread>

namespace headrace::detail {
namespace {

using test::link_end;
using test::mailbox;
using test::same;
using test::sample;
using ::testing::HasSubstr;

/// A link between the nodes 1 and 2: `near` is the end of node 1.
struct LocalLink : ::testing::Test {
  LocalLink() {
    mailbox<std::shared_ptr<link>> accepted;
    mailbox<result<std::shared_ptr<link>>> connected;
    EXPECT_TRUE(
      hub->listen("far", 2, [&](std::shared_ptr<link> x) { accepted.put(std::move(x)); }));
    hub->connect("far", 1, [&](auto x) { connected.put(std::move(x)); });
    near.attach(connected.take().value().value());
    far.attach(accepted.take().value());
    hub->stop_listening("far");
  }
  std::unique_ptr<local_hub> hub = std::make_unique<local_hub>();
  link_end near, far;
};

TEST_F(LocalLink, MovesMessagesWithoutCopying) {
  auto m = sample(1, 2, {100, 5000});
  ASSERT_TRUE(near.link->send(m));
  auto got = far.next();
  ASSERT_TRUE(got);
  EXPECT_TRUE(same(m, *got));
  EXPECT_EQ(got->payload[1].data(), m.payload[1].data());
  EXPECT_TRUE(near.drained());
  EXPECT_EQ(near.link->queued_bytes(), 0u);
  EXPECT_EQ(near.link->peer_node(), 2u);
  EXPECT_EQ(far.link->peer_node(), 1u);
}

TEST_F(LocalLink, ItsPeerIsOnTheSameHost) {
  EXPECT_EQ(near.link->peer_boot_id(), boot_id());
  EXPECT_EQ(far.link->peer_boot_id(), boot_id());
}

TEST_F(LocalLink, KeepsTheOrderFromSeveralThreads) {
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 3; ++t)
    threads.emplace_back([this, t] {
      for (uint64_t i = 0; i < 3000; ++i)
        near.link->send({.channel = t, .header = buffer::copy_of(&i, sizeof(i)), .payload = {}});
    });
  uint64_t next[3] = {};
  for (int i = 0; i < 9000; ++i) {
    auto got = far.next();
    ASSERT_TRUE(got);
    ASSERT_EQ(got->header.as<uint64_t>()[0], next[got->channel]++);
  }
  for (auto& x : threads) x.join();
}

TEST_F(LocalLink, TellsBothEndsOnceWhenOneCloses) {
  far.link->close(cancelled("enough"));
  EXPECT_EQ(far.closed(), cancelled("enough"));
  EXPECT_EQ(near.closed().code(), status_code::unavailable);
  EXPECT_FALSE(near.link->send({}));
  near.link->close(cancelled("late"));
  hub.reset();
  EXPECT_EQ(near.times_closed(), 1u);
  EXPECT_EQ(far.times_closed(), 1u);
}

TEST_F(LocalLink, EndsWithItsHub) {
  hub.reset();
  EXPECT_FALSE(near.closed().ok());
  EXPECT_FALSE(far.closed().ok());
  EXPECT_FALSE(near.link->send({}));
}

TEST_F(LocalLink, RefusesToSendWhatASocketWould) {
  EXPECT_FALSE(near.link->send({.header = buffer::copy_of("123", 3), .payload = {}}));
}

TEST(LocalHub, ConnectsByName) {
  local_hub hub;
  mailbox<std::shared_ptr<link>> accepted;
  ASSERT_TRUE(
    hub.listen("worker", 7, [&](std::shared_ptr<link> x) { accepted.put(std::move(x)); }));
  EXPECT_EQ(hub.listen("worker", 8, {}).code(), status_code::already_exists);
  mailbox<result<std::shared_ptr<link>>> done;
  hub.connect("worker", 5, [&](auto x) { done.put(std::move(x)); });
  auto made = done.take().value();
  ASSERT_TRUE(made.ok());
  EXPECT_EQ((*made)->peer_node(), 7u);
  link_end near{*made}, far{accepted.take().value()};
  EXPECT_EQ(far.link->peer_node(), 5u);
  near.link->send(sample(1, 1, {10}));
  EXPECT_TRUE(far.next());
  hub.connect("nobody", 5, [&](auto x) { done.put(std::move(x)); });
  EXPECT_THAT(done.take().value().status().message(), HasSubstr("nobody"));
}

/// Connects nodes of this process through a hub.
class hub_transport final : public transport {
public:
  result<std::string> listen(const std::string& address, link_accepted on_accepted) override {
    HEADRACE_TRY(hub_.listen(address, 3, std::move(on_accepted)));
    return address;
  }
  void connect(const std::string& address, link_connected done) override {
    hub_.connect(address, 3, std::move(done));
  }

private:
  local_hub hub_;
};

TEST(TransportRegistry, GivesTransportsByName) {
  transport_registry registry;
  ASSERT_TRUE(registry.add("link", make_link_transport(std::make_shared<link_service>())));
  ASSERT_TRUE(registry.add("local", std::make_shared<hub_transport>()));
  EXPECT_EQ(registry.add("link", nullptr).code(), status_code::already_exists);
  EXPECT_EQ(registry.names(), (std::vector<std::string>{"link", "local"}));
  EXPECT_THAT(registry.find("rdma").status().message(), HasSubstr("known: link, local"));

  for (const auto& [name, address] :
       {std::pair{"link", "127.0.0.1:0"}, std::pair{"local", "here"}}) {
    auto t = registry.find(name).value();
    mailbox<std::shared_ptr<link>> accepted;
    auto at = t->listen(address, [&](std::shared_ptr<link> x) { accepted.put(std::move(x)); });
    ASSERT_TRUE(at.ok()) << to_string(at.status());
    mailbox<result<std::shared_ptr<link>>> done;
    t->connect(*at, [&](auto x) { done.put(std::move(x)); });
    auto made = done.take().value();
    ASSERT_TRUE(made.ok()) << to_string(made.status());
    link_end near{*made}, far{accepted.take().value()};
    auto m = sample(1, 1, {100});
    near.link->send(m);
    auto got = far.next();
    ASSERT_TRUE(got);
    EXPECT_TRUE(same(m, *got));
  }
}

TEST(TransportRegistry, SaysWhatIsWrongWithAnAddress) {
  auto t = make_link_transport(std::make_shared<link_service>());
  for (const auto* address : {"nowhere", ":5", "a:b", "a:70000", "::1:5", "x://a:5"}) {
    mailbox<status> done;
    t->connect(address, [&](auto x) { done.put(x.status()); });
    auto why = done.take().value();
    EXPECT_EQ(why.code(), status_code::invalid_argument);
    EXPECT_THAT(why.message(), HasSubstr(address));
    EXPECT_THAT(why.message(), HasSubstr("host:port"));
  }
}

} // namespace
} // namespace headrace::detail
