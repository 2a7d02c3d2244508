#include "tests/client/support/outcomes.hpp"
#include "tests/support/closing_server.hpp"
#include "tests/support/patience.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <optional>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

/// A port at which a dispatcher starts only after others have tried to connect to it.
class DispatcherComesLater : public testing::Test {
protected:
  void begin_service() {
    nobody.make_way();
    dispatcher.emplace(dispatcher_server_options{.endpoint = {.port = nobody.port()}});
  }
  dataset numbers() const { return dataset::range(20).apply(distribute{reads()}); }
  distribute_options reads() const {
    return {
      .processing_mode = sharding_policy::dynamic, .service = target, .worker_timeout = patience};
  }
  static size_t count(const dataset& what) {
    auto all =
      outcomes(what, [](const tensor_view& x) { return std::to_string(x.scalar<int64_t>()); });
    for (const auto& x : all) EXPECT_FALSE(x.starts_with("!")) << x;
    return all.size();
  }

  closing_server nobody;
  std::string target = nobody.address();
  std::optional<dispatcher_server> dispatcher;
  worker_server worker{{.dispatcher = target}};
};

TEST_F(DispatcherComesLater, ThanTheFirstIteration) {
  auto read = std::async(std::launch::async, [&] { return count(numbers()); });
  for (int visits = 0; visits < 3; ++visits) nobody.await_visit();
  begin_service();
  EXPECT_EQ(read.get(), 20u);
}

TEST_F(DispatcherComesLater, ThanAFurtherEpoch) {
  begin_service();
  const auto ds = numbers();
  EXPECT_EQ(count(ds), 20u);
  dispatcher.reset();
  closing_server away{nobody.port()};
  auto read = std::async(std::launch::async, [&] { return count(ds); });
  for (int visits = 0; visits < 3; ++visits) away.await_visit();
  away.make_way();
  begin_service();
  EXPECT_EQ(read.get(), 20u);
}

TEST_F(DispatcherComesLater, ThanARegistrationAndWhoReadsById) {
  auto id = std::async(std::launch::async, [&] {
    return register_dataset(target, dataset::range(7), {.id = "seven", .timeout = patience});
  });
  nobody.await_visit();
  auto read =
    std::async(std::launch::async, [&] { return count(from_dataset_id(reads(), id.get())); });
  nobody.await_visit();
  begin_service();
  EXPECT_EQ(read.get(), 7u);
}

TEST_F(DispatcherComesLater, ThanWhoWaitsForItsWorkers) {
  auto ready =
    std::async(std::launch::async, [&] { return await_service_workers(target, 1, patience); });
  nobody.await_visit();
  begin_service();
  EXPECT_TRUE(ready.get().ok());
  EXPECT_THAT(await_service_workers(target, 2, 2s).message(), HasSubstr("fewer than 2 workers"));
}

TEST_F(DispatcherComesLater, ThanTheBoundWhichTheErrorNames) {
  const auto says_why =
    AllOf(HasSubstr("the dispatcher at " + target + " has not answered for 0.3 s"),
          HasSubstr("without a word: a process there is ending"));
  auto brief = reads();
  brief.worker_timeout = 300ms;
  auto it = dataset::range(20).apply(distribute{brief}).iterate();
  const auto first = it.next().status();
  EXPECT_EQ(first.code(), status_code::unavailable);
  EXPECT_THAT(first.message(), AllOf(says_why, HasSubstr("give `worker_timeout` more")));
  EXPECT_FALSE(it.next().value()) << "it is over";
  EXPECT_THAT(thrown_by([&] { from_dataset_id(brief, "x"); }).message(),
              AllOf(says_why, HasSubstr("give `worker_timeout` more")));
  EXPECT_THAT(
    thrown_by([&] { register_dataset(target, dataset::range(1), {.timeout = 300ms}); }).message(),
    AllOf(says_why, HasSubstr("give `timeout` more")));
}

TEST_F(DispatcherComesLater, ThanTheTrainersPatience) {
  std::stop_source stop;
  auto failed = std::async(std::launch::async, [&] {
    return thrown_by([&] {
      register_dataset(target, dataset::range(7), {.timeout = 1h, .stop = stop.get_token()});
    });
  });
  nobody.await_visit();
  stop.request_stop();
  EXPECT_EQ(failed.get().code(), status_code::cancelled);

  auto slow = reads();
  slow.worker_timeout = 1h;
  auto it = dataset::range(20).apply(distribute{slow}).iterate();
  auto first = std::async(std::launch::async, [&] { return it.next().status(); });
  nobody.await_visit();
  it.stop();
  static_cast<void>(first.get()); // must return, because the iterator was stopped
}

} // namespace
} // namespace headrace::detail::test
