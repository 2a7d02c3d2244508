#include "headrace/actors/protocol/codec/stream_codec.hpp"
#include "headrace/actors/worker/stream_router.hpp"
#include "tests/actors/consumer/scripted_link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <variant>
#include <vector>

namespace headrace::detail::test {
namespace {

/// A router with one link and one task, whose actor does nothing in these tests.
class StreamRouter : public testing::Test {
protected:
  StreamRouter() {
    router->serve(peer);
    router->add(task_id{7}, {});
  }

  void say(uint32_t channel, const from_consumer& what) {
    peer->handlers.on_message(write_message(channel, what));
  }
  void open(uint32_t channel, uint64_t task = 7) {
    say(channel, stream_open{.task = task_id{task}, .life = incarnation{1}});
  }
  /// The error with which the last stream was refused.
  status refusal() const {
    const auto said = read_from_task(peer->sent.back(), {}).value();
    return std::get<stream_failed>(said).why;
  }

  std::shared_ptr<scripted_link> peer = std::make_shared<scripted_link>();
  std::shared_ptr<stream_router> router = std::make_shared<stream_router>();
};

TEST_F(StreamRouter, BoundsTheChannelsOfALink) {
  for (uint32_t i = 1; i <= stream_router::most_channels; ++i) open(i);
  EXPECT_TRUE(peer->sent.empty());
  open(stream_router::most_channels + 1);
  ASSERT_EQ(peer->sent.size(), 1u);
  EXPECT_EQ(refusal().code(), status_code::resource_exhausted);
  EXPECT_THAT(refusal().message(), testing::HasSubstr("65536 streams"));
  open(1); // the channel is open already
  EXPECT_EQ(peer->sent.size(), 1u);
}

TEST_F(StreamRouter, FreesAChannelThatItsConsumerCloses) {
  for (uint32_t i = 1; i <= stream_router::most_channels + 100; ++i) {
    open(i);
    say(i, stream_close{});
  }
  EXPECT_TRUE(peer->sent.empty());
}

TEST_F(StreamRouter, FreesTheChannelsOfATaskThatIsOver) {
  for (uint32_t i = 1; i <= stream_router::most_channels; ++i) open(i);
  router->remove(task_id{7});
  router->add(task_id{8}, {});
  open(stream_router::most_channels + 1, 8);
  EXPECT_TRUE(peer->sent.empty());
}

TEST_F(StreamRouter, HasStreamsOpenedAgainWhoseMessagesACrashedActorMayHaveHad) {
  open(1);
  router->crashed(task_id{7});
  EXPECT_TRUE(peer->sent.empty());
  router->crashed(task_id{7}); // the next actor could not start
  open(2);
  ASSERT_EQ(peer->sent.size(), 1u);
  EXPECT_EQ(refusal().code(), status_code::not_found) << "no actor runs";
  router->add(task_id{7}, {});
  ASSERT_EQ(peer->sent.size(), 2u);
  EXPECT_EQ(peer->sent.back().channel, 1u);
  EXPECT_EQ(refusal().code(), status_code::not_found);
  open(3);
  router->add(task_id{7}, {});
  EXPECT_EQ(peer->sent.size(), 2u) << "each is answered once";
}

TEST_F(StreamRouter, LeavesStreamsOfATaskThatIsDroppedToTheTask) {
  open(1);
  router->crashed(task_id{7});
  router->remove(task_id{7});
  router->add(task_id{7}, {});
  EXPECT_TRUE(peer->sent.empty());
}

// Each thread handles the messages of a link of its own, as the threads of a worker's links do.
TEST_F(StreamRouter, ServesLinksOnSeveralThreadsWhileTasksComeAndGo) {
  std::vector<std::shared_ptr<scripted_link>> peers(3);
  std::vector<std::jthread> threads;
  for (auto& own : peers) {
    own = std::make_shared<scripted_link>();
    threads.emplace_back([this, own] {
      router->serve(own);
      for (uint32_t i = 1; i <= 1000; ++i) {
        own->handlers.on_message(
          write_message(i, stream_open{.task = task_id{7 + i % 2}, .life = incarnation{1}}));
        if (i % 3 == 0)
          own->handlers.on_message(write_message(i, stream_close{}));
      }
    });
  }
  for (int i = 0; i < 1000; ++i) {
    router->add(task_id{8}, {});
    router->task(task_id{8});
    router->remove(task_id{8});
  }
  threads.clear();
  for (const auto& own : peers)
    for (const auto& what : own->sent) {
      ASSERT_EQ(what.channel % 2, 1u) << "task 7 was there all the time";
      const auto said = read_from_task(what, {}).value();
      ASSERT_EQ(std::get<stream_failed>(said).why.code(), status_code::not_found);
    }
}

} // namespace
} // namespace headrace::detail::test
