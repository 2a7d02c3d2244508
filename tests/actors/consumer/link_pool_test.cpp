#include "headrace/actors/consumer/link_pool.hpp"

#include "headrace/actors/messages.hpp"
#include "headrace/runtime/link/local_link.hpp"
#include "tests/actors/consumer/scripted_link.hpp"
#include "tests/support/actor_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <vector>

namespace headrace::detail::test {
namespace {

/// A transport that connects when the test calls `connect_all`. It keeps all links.
class slow_transport final : public transport {
public:
  ~slow_transport() override {
    for (auto& x : made) x->handlers = {}; // the handlers may own the link that owns them
  }
  result<std::string> listen(const std::string&, link_accepted) override {
    return unimplemented("nobody listens here");
  }
  void connect(const std::string&, link_connected done) override { waits.push_back(done); }
  void connect_all() {
    for (auto& done : std::exchange(waits, {})) {
      made.push_back(std::make_shared<scripted_link>());
      done(std::shared_ptr<link>{made.back()});
    }
  }

  std::vector<link_connected> waits;
  std::vector<std::shared_ptr<scripted_link>> made;
};

/// A consumer that keeps the links that it was sent.
class linked_consumer {
public:
  using handle_type = consumer_handle;
  static inline const char* name = "headrace.test.linked_consumer";
  linked_consumer(port::self_pointer<handle_type>, std::shared_ptr<std::vector<link_made>> what)
    : what_(std::move(what)) {}
  port::behavior<handle_type> make_behavior() {
    return {[](const envelope& in) -> caf::result<envelope> { return make_ok(in->getRequestId()); },
            [this](const local<consumer_event>& x) {
              if (const auto* made = std::get_if<link_made>(&*x))
                what_->push_back(*made);
            },
            [](atom::deadline, uint64_t) {}};
  }

private:
  std::shared_ptr<std::vector<link_made>> what_;
};

class LinkPool : public testing::Test {
protected:
  static link_pool::receiver ignores() {
    return {.on_message = [](const link&, link_message) {},
            .on_closed = [](const link&, uint32_t, const status&) {}};
  }
  struct consumer {
    std::shared_ptr<std::vector<link_made>> got = std::make_shared<std::vector<link_made>>();
    consumer_handle handle;
    std::shared_ptr<link> last() const { return got->back().made; }
  };
  consumer make_consumer() {
    consumer out;
    out.handle = port::spawn<linked_consumer>(node.system, out.got);
    all.push_back(out.handle);
    return out;
  }
  ~LinkPool() override {
    for (const auto& x : all) node.end(x);
  }
  void want(const consumer& who, const std::string& address = "worker:1") {
    pool->want(address, who.handle);
    way->connect_all();
    node.dispatch();
  }

  /// The consumer gets a link, and opens a channel on it.
  uint32_t reads(const consumer& who) {
    want(who);
    const auto channel = pool->open_channel(who.last(), who.handle, ignores());
    EXPECT_NE(channel, 0u);
    return channel;
  }

  actor_node node;
  std::shared_ptr<slow_transport> way = std::make_shared<slow_transport>();
  time_point now{};
  std::shared_ptr<link_pool> pool = std::make_shared<link_pool>(way, 0, 0, [this] { return now; });
  std::vector<consumer_handle> all;
};

TEST_F(LinkPool, ConsumersThatReadAtTheSameTimeHaveLinksOfTheirOwn) {
  const auto a = make_consumer(), b = make_consumer();
  reads(a);
  reads(b);
  EXPECT_NE(a.last(), b.last());
  EXPECT_EQ(way->made.size(), 2u);
}

TEST_F(LinkPool, AConsumerHasOneLinkToAnAddress) {
  const auto a = make_consumer();
  pool->want("worker:1", a.handle);
  pool->want("worker:1", a.handle);
  EXPECT_EQ(way->waits.size(), 1u);
  way->connect_all();
  node.dispatch();
  ASSERT_EQ(a.got->size(), 1u);
  want(a);
  EXPECT_EQ((*a.got)[1].made, (*a.got)[0].made) << "before it opens a channel";
  ASSERT_NE(pool->open_channel(a.last(), a.handle, ignores()), 0u);
  want(a);
  EXPECT_EQ((*a.got)[2].made, (*a.got)[0].made) << "and after";
  want(a, "worker:2");
  EXPECT_NE(a.last(), (*a.got)[0].made);
  EXPECT_EQ(way->made.size(), 2u);
}

TEST_F(LinkPool, ALinkThatNoConsumerUsesIsGivenToTheNextOne) {
  const auto a = make_consumer(), b = make_consumer();
  const auto channel = reads(a);
  pool->close_channel(a.last().get(), channel);
  want(b);
  EXPECT_EQ(b.last(), a.last());
}

TEST_F(LinkPool, TheLastLinksToAnAddressAreSharedEvenly) {
  std::vector<consumer> readers;
  std::map<std::shared_ptr<link>, int> shared;
  for (size_t i = 0; i < 3 * link_pool::most_links; ++i) {
    readers.push_back(make_consumer());
    reads(readers.back());
    ++shared[readers.back().last()];
  }
  EXPECT_EQ(way->made.size(), link_pool::most_links);
  for (const auto& [over, readers_of] : shared) EXPECT_EQ(readers_of, 3);
}

TEST_F(LinkPool, ConsumersThatComeTogetherDoNotShareAConnectionThatIsBeingMade) {
  const auto a = make_consumer(), b = make_consumer();
  pool->want("worker:1", a.handle);
  pool->want("worker:1", b.handle);
  way->connect_all();
  node.dispatch();
  EXPECT_NE(a.last(), b.last());
}

TEST_F(LinkPool, AConsumerThatEndedWithoutAChannelLeavesItsLink) {
  const auto a = make_consumer(), b = make_consumer(), c = make_consumer();
  want(a);
  pool->forget(a.handle);
  want(b);
  EXPECT_EQ(b.last(), a.last());
  pool->want("worker:2", c.handle);
  pool->forget(c.handle);
  way->connect_all();
  want(b, "worker:2");
  EXPECT_EQ(b.last(), way->made[1]);
}

TEST_F(LinkPool, UnusedLinksAreClosedAfterAWhileExceptOne) {
  std::vector<consumer> readers;
  std::vector<uint32_t> channels;
  for (int i = 0; i < 3; ++i) {
    readers.push_back(make_consumer());
    channels.push_back(reads(readers.back()));
  }
  const auto open_links = [&] {
    return std::ranges::count_if(way->made, [](const auto& x) { return x->closed.ok(); });
  };
  for (size_t i = 0; i < 3; ++i) pool->close_channel(readers[i].last().get(), channels[i]);
  now += link_pool::kept_unused / 2;
  want(make_consumer(), "worker:2");
  EXPECT_EQ(open_links(), 4);
  now += link_pool::kept_unused;
  want(make_consumer(), "worker:2");
  EXPECT_EQ(open_links(), 3) << "one to the first worker, two to the second";
}

TEST_F(LinkPool, AClosedLinkIsReplacedAndConcernsItsConsumersOnly) {
  const auto a = make_consumer(), b = make_consumer();
  reads(a);
  reads(b);
  const auto lost = a.last();
  way->made[0]->close(unavailable("cut"));
  EXPECT_EQ(pool->open_channel(lost, a.handle, ignores()), 0u);
  want(a);
  EXPECT_NE(a.last(), lost);
  EXPECT_NE(a.last(), b.last());
  EXPECT_NE(pool->open_channel(b.last(), b.handle, ignores()), 0u);
}

/// Connects inside this process to `worker:1`, and adds the ends of that worker to `ends`.
class hub_transport final : public transport {
public:
  hub_transport() {
    EXPECT_TRUE(hub.listen("worker:1", 2, [this](auto x) { ends.push_back(std::move(x)); }));
  }
  result<std::string> listen(const std::string&, link_accepted) override {
    return unimplemented("nobody listens here");
  }
  void connect(const std::string& address, link_connected done) override {
    std::promise<result<std::shared_ptr<link>>> made;
    hub.connect(address, 1, [&](auto x) { made.set_value(std::move(x)); });
    done(made.get_future().get());
  }
  std::vector<std::shared_ptr<link>> ends;
  local_hub hub;
};

TEST_F(LinkPool, EndsWithItsLastOwnerThoughTheProcessHasAWorkerThatKeepsItsLinks) {
  const auto near = std::make_shared<hub_transport>();
  pool = std::make_shared<link_pool>(near);
  {
    const auto a = make_consumer();
    pool->want("worker:1", a.handle);
    node.dispatch();
    const auto channel = pool->open_channel(a.last(), a.handle, ignores());
    ASSERT_NE(channel, 0u);
    pool->close_channel(a.last().get(), channel);
    pool->forget(a.handle);
    a.got->clear();
  }
  std::promise<void> closed;
  near->ends.at(0)->set_handlers({.on_message = [](link_message) {},
                                  .on_closed = [&](const status&) { closed.set_value(); },
                                  .on_drained = {}});
  const std::weak_ptr<link_pool> there = pool;
  pool.reset();
  EXPECT_TRUE(there.expired());
  EXPECT_EQ(closed.get_future().wait_for(std::chrono::seconds{20}), std::future_status::ready);
}

} // namespace
} // namespace headrace::detail::test
