#include "headrace/actors/consumer/consumer_actor.hpp"
#include "headrace/actors/job/job_codec.hpp"

#include "tests/support/actor_fixture.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace headrace {
namespace {

using namespace std::chrono_literals;
using test::actor_node;

/// What a dispatcher does with the next question for an iteration.
using reply = std::function<caf::result<envelope>(schema::OpenIteration::Reader, uint64_t)>;

/// A dispatcher that answers as the test says, and writes down for which job it was asked.
struct script {
  std::vector<uint64_t> asked;
  reply next;
};

class scripted_dispatcher {
public:
  using handle_type = published_actor;
  static inline const char* name = "headrace.test.dispatcher";
  scripted_dispatcher(port::self_pointer<handle_type>, std::shared_ptr<script> what)
    : what_(std::move(what)) {}
  port::behavior<handle_type> make_behavior() {
    return {[this](const envelope& in) -> caf::result<envelope> {
      if (!in->getDispatcher().isOpenIteration())
        return make_ok(in->getRequestId());
      const auto wanted = in->getDispatcher().getOpenIteration();
      what_->asked.push_back(wanted.getJobId());
      return what_->next(wanted, in->getRequestId());
    }};
  }

private:
  std::shared_ptr<script> what_;
};

/// Finds the dispatcher that runs at present.
class scripted_connector {
public:
  using handle_type = connector_actor;
  static inline const char* name = "headrace.test.connector";
  scripted_connector(port::self_pointer<handle_type>, std::shared_ptr<published_actor> where)
    : where_(std::move(where)) {}
  port::behavior<handle_type> make_behavior() {
    return {[this](const local<connect_request>&) {
      return make_local<connection>(connection{*where_, {}});
    }};
  }

private:
  std::shared_ptr<published_actor> where_;
};

reply job(uint64_t id, const status& failure = {}) {
  return [=](schema::OpenIteration::Reader, uint64_t request) -> caf::result<envelope> {
    return make_envelope(request, [&](schema::Envelope::Builder b) {
      auto out = b.initDispatcher().initIteration();
      out.setJobId(id);
      out.setVersion(failure.ok() ? 1 : std::numeric_limits<uint64_t>::max());
      write_timing(out.initTiming(), {1s, 5s});
      if (!failure.ok())
        write_failure(out.initFailure().initFailed(), failure);
    });
  };
}
reply refuses(const status& why) {
  return [=](schema::OpenIteration::Reader, uint64_t request) -> caf::result<envelope> {
    return make_failure(why, request);
  };
}
/// As a job that ends while it has the question.
reply dies() {
  return [](schema::OpenIteration::Reader, uint64_t) -> caf::result<envelope> {
    return caf::make_error(caf::sec::request_receiver_down);
  };
}

class ConsumerActor : public testing::Test {
protected:
  ConsumerActor() { start_dispatcher(); }
  ~ConsumerActor() override {
    port::ask_to_exit(consumer);
    port::ask_to_exit(*where);
    port::ask_to_exit(connector);
    node.dispatch();
  }
  void start_dispatcher() { *where = port::spawn<scripted_dispatcher>(node.system, dispatcher); }
  void start() {
    consumer = port::spawn<consumer_state>(
      node.system, consumer_options{.dataset_id = "d", .worker_timeout = 10s},
      parse_address("127.0.0.1:1").value(), connector, std::make_shared<link_pool>(nullptr), out,
      logger{});
    node.dispatch();
  }
  void lose_the_dispatcher() {
    port::ask_to_exit(*where);
    start_dispatcher();
    node.dispatch();
    node.advance(3s);
  }
  /// What the trainer reads; ok: nothing yet.
  status failure() {
    status how;
    std::shared_ptr<const block> rows;
    return out->try_next(rows, how) == handout::outcome::over ? how : status{};
  }

  actor_node node;
  std::shared_ptr<script> dispatcher = std::make_shared<script>();
  std::shared_ptr<published_actor> where = std::make_shared<published_actor>();
  connector_actor connector = port::spawn<scripted_connector>(node.system, where);
  std::shared_ptr<handout> out = std::make_shared<handout>([] {});
  consumer_handle consumer;
};

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

TEST_F(ConsumerActor, GivesUpAskingAfterItsTimeout) {
  dispatcher->next = dies();
  start();
  node.advance(9s);
  EXPECT_TRUE(failure().ok());
  node.advance(3s);
  EXPECT_EQ(failure().code(), status_code::unavailable);
}

TEST_F(ConsumerActor, DoesNotAskAgainForWhatIsRefused) {
  dispatcher->next = refuses(not_found("no dataset has the id 'd'"));
  start();
  EXPECT_EQ(failure().code(), status_code::not_found);
  node.advance(1s);
  EXPECT_EQ(dispatcher->asked.size(), 1u);
}

} // namespace
} // namespace headrace
