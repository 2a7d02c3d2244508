#include "headrace/pipeline/codec/block_codec.hpp"
#include "tests/actors/consumer/consumer_fixture.hpp"
#include "tests/actors/consumer/scripted_link.hpp"
#include "tests/actors/stream/stream_world.hpp"

#include <gmock/gmock.h>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

constexpr task_id task{0xabc};
const std::string data_address = "10.0.0.7:4001";

/// A consumer of a job with one task, which the test plays.
class ConsumerStreams : public ConsumerActor {
protected:
  ConsumerStreams() {
    links = std::make_shared<link_pool>(way);
    options.spec = element_spec{tensor_spec{dtype::int64, shape{}}};
    dispatcher->next = job(7);
  }
  enum class task_is { starting, running, lost };
  void tell(task_is state) {
    const auto news = make_envelope(0, [&](schema::Envelope::Builder b) {
      auto it = b.initConsumer().initIteration();
      it.setJobId(7);
      it.setVersion(++version);
      write_timing(it.initTiming(), {1s, 5s});
      if (state == task_is::lost)
        return it.initLost(1).set(0, task.value);
      auto one = state == task_is::starting ? it.initStarting(1)[0] : it.initTasks(1)[0];
      one.setTaskId(task.value);
      one.setIncarnation(1);
      one.setDataAddress(data_address);
    });
    port::tell(consumer, news);
    node.dispatch();
  }
  scripted_link& worker() { return *way->links.at(data_address); }
  /// A block of numbers in the form that the task sends, on the channel that was opened last.
  link_message block_message(int64_t first, size_t rows,
                             block_encoding encoding = block_encoding::plain) {
    std::vector<buffer> payload;
    const auto header = stream_message::make([&](schema::StreamMessage::Builder b) {
      auto out = b.initBlock();
      out.setFirst(static_cast<uint64_t>(first));
      encode_block(numbers(first, rows), encoding, out.initBlock(), payload);
    });
    return {worker().opened().back().first, header.bytes(), std::move(payload)};
  }
  void arrives(link_message what) {
    worker().handlers.on_message(std::move(what));
    node.dispatch();
  }
  /// Takes all rows of the handout; returns their number.
  size_t take() {
    size_t rows = 0;
    for (std::shared_ptr<const block> some; out->try_next(some, told) == handout::outcome::rows;) {
      const auto [first, last] = out->claim_up_to(some->rows);
      rows += last - first;
    }
    return rows;
  }

  std::shared_ptr<scripted_transport> way = std::make_shared<scripted_transport>();
  uint64_t version = 1;
  status told; ///< the status that `take` got at the end
};

TEST_F(ConsumerStreams, HaveCompressedAndOtherBlocksInTheirOrder) {
  start();
  tell(task_is::running);
  for (int64_t i = 0; i < 6; ++i) // these messages arrive before the actor runs
    worker().handlers.on_message(
      block_message(i * 1'000, 1'000, i % 3 == 1 ? block_encoding::snappy : block_encoding::plain));
  EXPECT_EQ(take(), 1'000u) << "the first one needs no actor";
  node.dispatch();
  EXPECT_EQ(take(), 5'000u);
}

TEST_F(ConsumerStreams, HaveAReportLeftToTheActorWhenTheDispatcherIsLost) {
  start();
  tell(task_is::running);
  arrives(block_message(0, 10));
  const auto held = make_envelope(0, [&](schema::Envelope::Builder b) {
    auto it = b.initConsumer().initIteration();
    it.setJobId(7);
    it.setVersion(++version);
    write_timing(it.initTiming(), {1s, 5s});
    it.initHeld(1).set(0, task.value);
  });
  port::tell(consumer, held);
  node.dispatch();
  memory->announced = true; // as if the actor was called and has not run yet
  EXPECT_EQ(take(), 10u);
  take_trainer_moved(*memory);
  ASSERT_FALSE(memory->unfinished.empty());
  EXPECT_TRUE(std::holds_alternative<consume::beat>(memory->unfinished[0]));
  lose_the_dispatcher();
  EXPECT_TRUE(memory->unfinished.empty());
  EXPECT_TRUE(failure().ok());
}

TEST_F(ConsumerStreams, HaveTheirLinkWhenATaskThatWasStartingRuns) {
  start();
  tell(task_is::starting);
  ASSERT_TRUE(way->links.contains(data_address));
  const auto link = way->links.at(data_address);
  EXPECT_TRUE(link->sent.empty()) << "nobody is there yet to open a stream to";
  tell(task_is::running);
  EXPECT_EQ(way->links.at(data_address), link);
  EXPECT_EQ(link->opened().size(), 1u);
}

TEST_F(ConsumerStreams, HearNothingMoreOfALostTaskAndKeepWhatItGave) {
  start();
  tell(task_is::running);
  auto late = block_message(50, 50);
  arrives(block_message(0, 50));
  tell(task_is::lost);
  arrives(late);
  EXPECT_EQ(take(), 50u);
  node.advance(5s);
  EXPECT_EQ(worker().opened().size(), 1u) << "nor is it looked for";
}

TEST_F(ConsumerStreams, GoOnWhereTheyWereWithATaskThatIsBack) {
  start();
  tell(task_is::running);
  arrives(block_message(0, 50));
  tell(task_is::lost);
  tell(task_is::running);
  const auto opened = worker().opened();
  ASSERT_EQ(opened.size(), 2u);
  EXPECT_EQ(opened.back().second->getOpen().getReceived(), 50u);
  arrives(block_message(50, 50));
  EXPECT_EQ(take(), 100u);
}

TEST_F(ConsumerStreams, TellTheTrainerOnceOfABlockThatCannotBeRead) {
  start();
  tell(task_is::running);
  arrives(block_message(0, 50));
  auto damaged = block_message(50, 50);
  damaged.payload.clear();
  arrives(damaged);
  arrives(block_message(50, 50));
  EXPECT_EQ(take(), 50u) << "what came after it is not given";
  EXPECT_TRUE(worker().closed.ok()) << "the link has other streams";
  node.advance(5s);
  EXPECT_EQ(worker().opened().size(), 1u) << "it is not asked for again";
  EXPECT_EQ(told.code(), status_code::data_loss);
  std::shared_ptr<const block> rows;
  status how;
  EXPECT_EQ(out->try_next(rows, how), handout::outcome::over);
  EXPECT_TRUE(how.ok()) << "told again: " << how.message();
}

TEST_F(ConsumerStreams, NameWorkerAndTaskOfABlockThatCannotBeRead) {
  start();
  tell(task_is::running);
  auto damaged = block_message(0, 50);
  damaged.payload.clear();
  arrives(damaged);
  const auto how = failure();
  EXPECT_EQ(how.code(), status_code::data_loss);
  EXPECT_THAT(how.message(), AllOf(HasSubstr(data_address), HasSubstr("task abc")));
}

TEST_F(ConsumerStreams, NameWorkerAndTaskOfABlockBeforeWhichElementsAreMissing) {
  start();
  tell(task_is::running);
  arrives(block_message(10, 50));
  const auto how = failure();
  EXPECT_EQ(how.code(), status_code::data_loss);
  EXPECT_THAT(how.message(), AllOf(HasSubstr(data_address), HasSubstr("task abc")));
}

TEST_F(ConsumerStreams, GoOnOverAFreshLinkWhenTheirsFellSilent) {
  start();
  tell(task_is::running);
  arrives(block_message(0, 50));
  const auto silent = way->links.at(data_address);
  std::exchange(silent->handlers, {})
    .on_closed(unavailable("10.0.0.7:4001 has been silent for 5 s"));
  node.dispatch();
  for (int i = 0; i < 20 && way->links.at(data_address) == silent; ++i) node.advance(1s);
  ASSERT_NE(way->links.at(data_address), silent);
  const auto opened = worker().opened();
  ASSERT_EQ(opened.size(), 1u);
  EXPECT_EQ(opened.back().second->getOpen().getReceived(), 50u);
  arrives(block_message(50, 50));
  EXPECT_EQ(take(), 100u);
}

TEST_F(ConsumerStreams, SayThatTheirNodesLinksHaveEnded) {
  way.reset(); // the transport is gone, as when the links of the node have ended
  start();
  tell(task_is::running);
  EXPECT_TRUE(failure().ok()) << "the trainer waits";
  node.advance(12s);
  const auto how = failure();
  EXPECT_EQ(how.code(), status_code::unavailable);
  EXPECT_THAT(how.message(), HasSubstr("links have ended"));
}

} // namespace
} // namespace headrace::detail::test
