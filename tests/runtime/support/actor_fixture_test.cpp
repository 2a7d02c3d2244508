#include "headrace/runtime/caf/watcher.hpp"
#include "tests/support/actor_fixture.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

using namespace std::chrono_literals;

namespace headrace::detail {
namespace {

using beating_actor =
  port::handle<caf::result<void>(atom::supervise, uint64_t), caf::result<local<int>>(local<int>)>;

/// An actor that sends itself the next beat one second after each beat, and answers each number
/// with the same number. The number 13 makes it throw.
class beating_state {
public:
  using handle_type = beating_actor;
  static inline const char* name = "test.beating";
  explicit beating_state(port::self_pointer<handle_type> self) : self_(self) {}
  port::behavior<handle_type> make_behavior() {
    return {
      [this](atom::supervise, uint64_t n) {
        port::remind(self_, std::chrono::seconds{1}, atom::supervise_v, n + 1);
      },
      [](const local<int>& x) -> caf::result<local<int>> {
        if (*x == 13)
          throw error{out_of_range("13")};
        return x;
      },
    };
  }

private:
  port::self_pointer<handle_type> self_;
};

class ActorFixture : public testing::Test {
protected:
  ~ActorFixture() override { node.end(actor); }
  test::actor_node node;
  beating_actor actor = port::spawn<beating_state>(node.system);
};

TEST_F(ActorFixture, RunsOneMessageAtATime) {
  port::tell(actor, atom::supervise_v, uint64_t{1});
  EXPECT_TRUE((node.runs<atom::supervise, uint64_t>(actor)));
  EXPECT_FALSE(node.step());
}

TEST_F(ActorFixture, MovesTheClockOnlyWhenTold) {
  port::tell(actor, atom::supervise_v, uint64_t{1});
  node.dispatch();
  auto before = node.now();
  node.scheduler.advance_time(999ms);
  EXPECT_FALSE(node.scheduler.has_job());
  node.scheduler.advance_time(1ms);
  EXPECT_TRUE(
    (node.runs<atom::supervise, uint64_t>(actor, [](auto, uint64_t n) { return n == 2; })));
  EXPECT_EQ(node.now() - before, 1s);
}

TEST_F(ActorFixture, DeliversEveryTimerOnTheWay) {
  port::tell(actor, atom::supervise_v, uint64_t{1});
  node.advance(10s);
  node.scheduler.advance_time(1s);
  EXPECT_TRUE(
    (node.runs<atom::supervise, uint64_t>(actor, [](auto, uint64_t n) { return n == 12; })));
}

// Shows that the fixture's checks fail when they must.
TEST_F(ActorFixture, FailsForNoMessageAnotherMessageAndOtherContent) {
  EXPECT_STREQ((node.runs<atom::supervise, uint64_t>(actor).message()), "no message is waiting");
  port::tell(actor, atom::supervise_v, uint64_t{3});
  EXPECT_NONFATAL_FAILURE(EXPECT_TRUE(node.runs<local<int>>(actor)), "next message is");
  EXPECT_FALSE(
    (node.runs<atom::supervise, uint64_t>(actor, [](auto, uint64_t n) { return n == 4; })));
}

TEST_F(ActorFixture, HandsOverAnswersAndErrors) {
  auto x = node.ask<local<int>>(actor, make_local<int>(12));
  ASSERT_TRUE(x);
  EXPECT_EQ(**x, 12);
  EXPECT_FALSE((node.ask<local<int>>(actor, make_local<int>(13))));
}

TEST_F(ActorFixture, ShowsWhatAnActorThrewAsTheReasonOfItsEnd) {
  node.self->monitor(actor);
  port::tell(actor, make_local<int>(13));
  node.dispatch();
  ASSERT_TRUE(node.self->has_next_message());
  node.self->receive(
    [](const caf::down_msg& down) { EXPECT_EQ(to_status(down.reason), out_of_range("13")); });
}

// -- port::watcher --------------------------------------------------------------------------

using watching_actor = port::handle<caf::result<void>(local<std::function<void(port::watcher&)>>)>;
class watching_state {
public:
  using handle_type = watching_actor;
  static inline const char* name = "test.watching";
  explicit watching_state(port::self_pointer<handle_type> self) : watcher_(self) {}
  port::behavior<handle_type> make_behavior() {
    return {[this](const local<std::function<void(port::watcher&)>>& f) { (*f)(watcher_); }};
  }

private:
  port::watcher watcher_;
};

class Watcher : public ActorFixture {
protected:
  ~Watcher() override { node.end(watching); }
  void with(std::function<void(port::watcher&)> f) {
    port::tell(watching, local<std::function<void(port::watcher&)>>{std::move(f)});
    node.dispatch();
  }
  watching_actor watching = port::spawn<watching_state>(node.system);
  int calls = 0;
};

TEST_F(Watcher, CallsEveryWatchOfOneActorOnce) {
  with([&](port::watcher& w) {
    w.watch(actor, [&](const caf::error&) { ++calls; });
    w.watch(actor, [&](const caf::error&) { ++calls; });
  });
  node.end(actor);
  EXPECT_EQ(calls, 2);
  with([](port::watcher& w) { EXPECT_EQ(w.size(), 0u); });
}

TEST_F(Watcher, ForgetsOneWatchAndKeepsTheOther) {
  with([&](port::watcher& w) {
    auto first = w.watch(actor, [&](const caf::error&) { calls += 100; });
    w.watch(actor, [&](const caf::error&) { ++calls; });
    w.forget(first);
  });
  node.end(actor);
  EXPECT_EQ(calls, 1);
}

TEST_F(Watcher, ReportsAnActorThatHasEndedAlready) {
  node.end(actor);
  with([&](port::watcher& w) { w.watch(actor, [&](const caf::error&) { ++calls; }); });
  EXPECT_EQ(calls, 1);
}

TEST_F(Watcher, LetsACallbackForgetAnother) {
  port::watcher::token second = 0;
  with([&](port::watcher& w) {
    w.watch(actor, [&](const caf::error&) { w.forget(second); });
    second = w.watch(actor, [&](const caf::error&) { ++calls; });
  });
  node.end(actor);
  EXPECT_EQ(calls, 0);
}

} // namespace
} // namespace headrace::detail
