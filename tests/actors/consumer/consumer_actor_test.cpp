#include "headrace/actors/protocol/large_graph.hpp"
#include "tests/actors/consumer/consumer_fixture.hpp"

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

TEST_F(ConsumerActor, RefusesAnotherJobInPlaceOfTheOneThatItReads) {
  dispatcher->next = job(7);
  start();
  EXPECT_TRUE(failure().ok());
  dispatcher->next = job(8);
  lose_the_dispatcher();
  EXPECT_EQ(dispatcher->asked, (std::vector<uint64_t>{0, 7}));
  const auto how = failure();
  EXPECT_EQ(how.code(), status_code::aborted);
  EXPECT_NE(how.message().find("has begun"), std::string::npos) << how.message();
}

TEST_F(ConsumerActor, AsksAgainWhenItsJobEndsWhileItAsks) {
  dispatcher->next = dies();
  start();
  EXPECT_EQ(dispatcher->asked.size(), 1u);
  node.advance(20ms);
  EXPECT_GT(dispatcher->asked.size(), 1u);
  EXPECT_TRUE(failure().ok());
  dispatcher->next = job(7);
  node.advance(1s);
  EXPECT_TRUE(failure().ok());
  const auto so_far = dispatcher->asked.size();
  node.advance(5s);
  EXPECT_EQ(dispatcher->asked.size(), so_far) << "it has its answer";
}

TEST_F(ConsumerActor, AsksAgainWhileTheDispatcherIsBeingRestarted) {
  dispatcher->next = refuses(unavailable("the dispatcher is being started again"));
  start();
  node.advance(100ms);
  EXPECT_TRUE(failure().ok());
  dispatcher->next = job(7, aborted("job 7 failed"));
  node.advance(1s);
  EXPECT_EQ(failure().message(), "job 7 failed");
}

TEST_F(ConsumerActor, BringsItsDatasetAndALargeGraphOnlyWhereItIsMissing) {
  for (const size_t size : {size_t{10}, large_graph}) {
    SCOPED_TRACE(size);
    out = std::make_shared<handout>([] {});
    const std::string bytes(size, 'x');
    options.dataset_id.clear();
    options.dataset = dataset_registration{.graph = buffer::copy_of(bytes.data(), bytes.size()),
                                           .fingerprint = "print"};
    std::vector<size_t> brought;
    dispatcher->next = [&](schema::OpenIteration::Reader wanted, uint64_t request) {
      brought.push_back(wanted.getDataset().getGraph().size());
      EXPECT_EQ(wanted.getDataset().getFingerprint().size(), 5u);
      if (brought.back() == 0)
        return refuses(not_found("no dataset of that fingerprint"))(wanted, request);
      return job(7)(wanted, request);
    };
    start();
    EXPECT_TRUE(failure().ok());
    EXPECT_EQ(brought, size < large_graph ? std::vector{size} : (std::vector{size_t{0}, size}));
    dispatcher->next = [](schema::OpenIteration::Reader wanted, uint64_t request) {
      EXPECT_FALSE(wanted.hasDataset()) << "its job has it";
      return job(7)(wanted, request);
    };
    lose_the_dispatcher();
    node.end(consumer);
  }
}

TEST_F(ConsumerActor, GivesUpAskingAfterItsTimeout) {
  dispatcher->next = dies();
  start();
  node.advance(9s);
  EXPECT_TRUE(failure().ok());
  node.advance(3s);
  EXPECT_EQ(failure().code(), status_code::unavailable);
}

TEST_F(ConsumerActor, SaysWhyTheDispatcherWasNeverReached) {
  time_point now{};
  consumer_core core{options, consumer_id{1}, "127.0.0.1:1", out, logger{}, now};
  for (auto at = core.next_deadline(); at && !core.over(); at = core.next_deadline()) {
    core.dispatcher_unreached(deadline_exceeded("127.0.0.1:1 accepted and said nothing"), now);
    now = *at;
    core.timer(now);
  }
  EXPECT_EQ(now, time_point{} + options.worker_timeout);
  EXPECT_EQ(failure(), unavailable("the dispatcher at 127.0.0.1:1 has not answered for 10 s: "
                                   "127.0.0.1:1 accepted and said nothing; start it (`headrace "
                                   "dispatcher`), or give `worker_timeout` more"));
}

TEST_F(ConsumerActor, AnswersDamagedMessagesWithTheirCount) {
  dispatcher->next = job(7);
  start();
  for (uint64_t i = 1; i <= 2; ++i) {
    const auto answer = node.ask<envelope>(consumer, envelope::broken("bent")).value();
    ASSERT_TRUE(answer->isBadMessage());
    EXPECT_EQ(answer->getBadMessage().getCount(), i);
  }
  EXPECT_TRUE(failure().ok());
}

TEST_F(ConsumerActor, DoesNotAskAgainForWhatIsRefused) {
  dispatcher->next = refuses(not_found("no dataset has the id 'd'"));
  start();
  EXPECT_EQ(failure().code(), status_code::not_found);
  node.advance(1s);
  EXPECT_EQ(dispatcher->asked.size(), 1u);
}

} // namespace
} // namespace headrace::detail::test
