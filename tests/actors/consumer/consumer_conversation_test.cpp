#include "headrace/actors/protocol/codec/stream_codec.hpp"
#include "tests/actors/consumer/consumer_fixture.hpp"
#include "tests/actors/consumer/scripted_link.hpp"
#include "tests/actors/stream/stream_world.hpp"

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

/// The messages between a consumer, its job and one task, in order; the test plays the job and the
/// task.
class ConsumerConversation : public ConsumerActor {
protected:
  struct step {
    const char* what;
    std::function<void()> happens;
  };
  static inline const std::string address = "10.0.0.7:4001";

  ConsumerConversation() {
    links = std::make_shared<link_pool>(way);
    options.spec = element_spec{tensor_spec{dtype::int64, shape{}}};
    dispatcher->next = job(7);
  }
  /// Starts a consumer with a new handout. @pre the previous consumer, if any, has ended
  void begin() {
    out = std::make_shared<handout>([] {});
    taken.clear();
    start();
  }
  void tell(bool finished) {
    const auto news = make_envelope(0, [&](schema::Envelope::Builder b) {
      auto it = b.initConsumer().initIteration();
      it.setJobId(7);
      it.setVersion(finished ? 3 : 2);
      it.setFinished(finished);
      write_timing(it.initTiming(), {1s, 5s});
      if (finished)
        return;
      auto one = it.initTasks(1)[0];
      one.setTaskId(0xabc);
      one.setIncarnation(1);
      one.setDataAddress(address);
    });
    port::tell(consumer, news);
    node.dispatch();
  }
  scripted_link& worker() { return *way->links.at(address); }
  void arrives(const from_task& what) {
    worker().handlers.on_message(write_message(worker().opened().back().first, what));
    node.dispatch();
  }
  void take() {
    status how;
    for (std::shared_ptr<const block> some; out->try_next(some, how) == handout::outcome::rows;)
      for (auto row = out->claim(); row >= 0; row = out->claim())
        taken.push_back(some->columns[0].values<int64_t>()[static_cast<size_t>(row)]);
  }
  std::vector<step> conversation() {
    return {
      {"it asks for its iteration", [this] { begin(); }},
      {"the job names a task", [this] { tell(false); }},
      {"rows come",
       [this] {
         arrives(stream_block{0, headrace::detail::numbers(0, 5)});
       }},
      {"the trainer takes them", [this] { take(); }},
      {"more rows come",
       [this] {
         arrives(stream_block{5, headrace::detail::numbers(5, 3)});
       }},
      {"the task ends",
       [this] {
         take();
         arrives(stream_end{8, task_outcome::exhausted});
       }},
      {"the job is finished", [this] { tell(true); }},
    };
  }
  void expect_complete() {
    std::vector<int64_t> all(8);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(taken, all);
    status how = internal_error("unset");
    std::shared_ptr<const block> rows;
    EXPECT_EQ(out->try_next(rows, how), handout::outcome::over);
    EXPECT_TRUE(how.ok()) << to_string(how);
  }

  std::shared_ptr<scripted_transport> way = std::make_shared<scripted_transport>();
  std::vector<int64_t> taken;
};

TEST_F(ConsumerConversation, TakesPlaceWithoutACrash) {
  for (const auto& step : conversation()) step.happens();
  expect_complete();
}

TEST_F(ConsumerConversation, IsAnotherOnesWhereverAConsumerWasKilled) {
  const auto steps = conversation();
  for (size_t last = 0; last < steps.size(); ++last) {
    SCOPED_TRACE(std::string{"killed after: "} + steps[last].what);
    for (size_t i = 0; i <= last; ++i) steps[i].happens();
    const auto had = taken.size();
    node.end(consumer);
    if (last >= 1 && last + 2 < steps.size()) {
      // With its last messages the killed consumer reports the elements that it handed out, so that
      // they are not sent to the next consumer.
      const auto& sent = worker().sent;
      ASSERT_GE(sent.size(), 2u);
      const auto grant = read_from_consumer(sent[sent.size() - 2]).value();
      const auto close = read_from_consumer(sent.back()).value();
      ASSERT_TRUE(std::holds_alternative<stream_grant>(grant));
      EXPECT_EQ(std::get<stream_grant>(grant).handed_out, had);
      EXPECT_TRUE(std::holds_alternative<stream_close>(close));
    }
    for (const auto& step : steps) step.happens();
    const auto opened = worker().opened();
    EXPECT_EQ(opened.back().second->getOpen().getReceived(), 0u) << "a stream of its own";
    expect_complete();
    node.end(consumer);
  }
}

TEST_F(ConsumerConversation, HandsOutCompressedBlocksThatCameBeforeTheNewsThatTheirTaskIsLost) {
  begin();
  tell(false);
  for (int64_t i = 0; i < 8; ++i) {
    const stream_block one{static_cast<uint64_t>(i * 100), headrace::detail::numbers(i * 100, 100)};
    worker().handlers.on_message(write_block(worker().opened().back().first, one, true));
  }
  port::tell(consumer, make_envelope(0, [&](schema::Envelope::Builder b) {
               auto it = b.initConsumer().initIteration();
               it.setJobId(7);
               it.setVersion(3);
               it.setFinished(true);
               write_timing(it.initTiming(), {1s, 5s});
               it.initLost(1).set(0, 0xabc);
             }));
  node.dispatch();
  take();
  EXPECT_EQ(taken.size(), 800u);
}

} // namespace
} // namespace headrace::detail::test
