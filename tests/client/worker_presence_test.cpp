#include "headrace/client/server.hpp"
#include "headrace/client/service_status.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "tests/runtime/node/echo_actor.hpp"
#include "tests/support/patience.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <optional>

namespace headrace::detail::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The lines of a log.
class lines {
public:
  logger log() {
    return logger::open({.level = log_level::info,
                         .sink =
                           [this](std::string_view line) {
                             std::lock_guard lock{mutex_};
                             text_ += std::string{line} + "\n";
                             changed_.notify_all();
                           }})
      .value();
  }
  /// All lines of the log as soon as they contain `part`; empty if they never do.
  std::string said_with(const std::string& part) {
    std::unique_lock lock{mutex_};
    const bool heard =
      changed_.wait_for(lock, patience, [&] { return text_.find(part) != std::string::npos; });
    return heard ? text_ : std::string{};
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
};

worker_server second_at(const std::string& data_address, const std::string& dispatcher,
                        lines& says) {
  worker_server_options about;
  about.dispatcher = dispatcher;
  about.endpoint.advertise_data = data_address;
  about.log = says.log();
  return worker_server{about};
}

TEST(WorkerPresence, RefusesASecondWorkerWithTheDataAddressOfALivingOne) {
  lines dispatcher_says, second_says;
  dispatcher_server_options about;
  about.log = dispatcher_says.log();
  dispatcher_server dispatcher{about};
  worker_server first{{.dispatcher = dispatcher.target()}};
  ASSERT_TRUE(await_service_workers(dispatcher.target(), 1, patience).ok());
  const auto second = second_at(first.address(), dispatcher.target(), second_says);
  EXPECT_THAT(second_says.said_with("another worker (1, process "),
              AllOf(HasSubstr(first.address()), HasSubstr("--advertise"), HasSubstr("--data-port"),
                    Not(HasSubstr("registered"))));
  EXPECT_THAT(
    dispatcher_says.said_with("worker refused"),
    AllOf(HasSubstr("worker joined"), HasSubstr(first.address()), Not(HasSubstr("worker lost"))));
  const auto shown = get_service_status(dispatcher.target(), patience).value();
  ASSERT_EQ(shown.workers.size(), 1u);
  EXPECT_EQ(state_of(shown.workers[0]), "alive");
}

TEST(WorkerPresence, TakesTheNextWorkerAtAnAddressWhenTheFirstHasEnded) {
  lines second_says;
  dispatcher_server dispatcher;
  std::optional<worker_server> first;
  first.emplace(worker_server_options{.dispatcher = dispatcher.target()});
  ASSERT_TRUE(await_service_workers(dispatcher.target(), 1, patience).ok());
  const auto second = second_at(first->address(), dispatcher.target(), second_says);
  EXPECT_NE(second_says.said_with("another worker"), "");
  first.reset();
  EXPECT_NE(second_says.said_with("registered"), "");
}

TEST(WorkerPresence, ShowsAWorkerThatEndedInOrderAsLeft) {
  dispatcher_server dispatcher;
  node here;
  const auto to = connect(here, parse_address(dispatcher.target()).value()).value().actor;
  const auto joined = ask_raw(here, to,
                              make_envelope(1,
                                            [](schema::Envelope::Builder b) {
                                              auto out = b.initDispatcher().initRegisterWorker();
                                              out.setIncarnation(7);
                                              out.setDataAddress("host:1");
                                            }))
                        .value();
  ASSERT_TRUE(status_of(joined).ok());
  const auto id = joined->getDispatcher().getWorkerRegistered().getWorkerId();
  const auto bye = ask_raw(here, to, make_envelope(2, [&](schema::Envelope::Builder b) {
                             auto out = b.initDispatcher().initLeaveService();
                             out.setWorkerId(id);
                             out.setIncarnation(7);
                           }));
  ASSERT_TRUE(bye && status_of(*bye).ok());
  const auto shown = get_service_status(dispatcher.target(), patience).value();
  ASSERT_EQ(shown.workers.size(), 1u);
  EXPECT_FALSE(shown.workers[0].alive);
  EXPECT_EQ(state_of(shown.workers[0]), "left");
  ASSERT_EQ(shown.tree.size(), 2u);
  EXPECT_EQ(shown.tree[1].state, "left");
}

} // namespace
} // namespace headrace::detail::test
