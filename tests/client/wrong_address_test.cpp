#include "headrace/client/service_status.hpp"
#include "headrace/runtime/message/envelope.hpp"
#include "headrace/runtime/node/caf_access.hpp"
#include "headrace/runtime/node/node.hpp"
#include "headrace/runtime/process/child_process.hpp"
#include "headrace/runtime/process/exit_code.hpp"
#include "tests/client/support/outcomes.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/raw_server.hpp"
#include "tests/support/stranger.hpp"

#include <caf/io/middleman.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

/// The error of reading a dataset through `service`, with the time limit `patience`.
status asked_at(const std::string& service, duration patience = 2s) {
  status first;
  const auto thrown = thrown_by([&] {
    const distribute there{{.service = service, .worker_timeout = patience}};
    first = dataset::range(3).apply(there).iterate().next().status();
  });
  return thrown.ok() ? first : thrown;
}
std::string text_of(const address& x) { return host_and_port(x.host, x.port); }

/// The exit code and the output of `headrace status --dispatcher`.
std::pair<exit_code, std::string> status_command(const std::string& dispatcher) {
  auto process = child_process::start({.argv = {test::headrace_program(), "status", "--dispatcher",
                                                dispatcher, "--timeout", "2s"},
                                       .merge_stderr = true})
                   .value();
  std::string said;
  while (auto line = process.read_line(30s)) said += *line + "\n";
  return {static_cast<exit_code>(process.wait(30s).value().as_exit_code()), said};
}

TEST(WrongAddress, NobodyListensThere) {
  const auto why = asked_at("127.0.0.1:1");
  EXPECT_EQ(why.code(), status_code::unavailable);
  const auto says_so = AllOf(HasSubstr("nobody listens at 127.0.0.1:1"),
                             HasSubstr("is the address right, and the process there running?"));
  EXPECT_THAT(why.message(), says_so);
  EXPECT_THAT(thrown_by([] {
                register_dataset("127.0.0.1:1", dataset::range(3), {.timeout = 200ms});
              }).message(),
              says_so);
  EXPECT_THAT(thrown_by([] {
                from_dataset_id({.service = "127.0.0.1:1", .worker_timeout = 200ms}, "digits");
              }).message(),
              says_so);
}

TEST(WrongAddress, IsNoAddress) {
  EXPECT_THAT(asked_at("").message(), AllOf(HasSubstr("service"), HasSubstr("127.0.0.1:4000")));
  const auto right = HasSubstr("must be host:port, e.g. 127.0.0.1:4000");
  EXPECT_THAT(asked_at("localhost").message(),
              AllOf(HasSubstr("\"localhost\""), HasSubstr("the port is missing"), right));
  EXPECT_THAT(asked_at("localhost:http").message(),
              AllOf(HasSubstr("\"http\" is not a port"), right));
}

TEST(WrongAddress, AnHttpServerListensThere) {
  raw_server http{"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"};
  const auto where = text_of(http.where());
  const auto why = asked_at(where, 1h);
  EXPECT_EQ(why.code(), status_code::invalid_argument);
  EXPECT_THAT(why.message(),
              AllOf(HasSubstr("something else listens at " + where), HasSubstr("HTTP/1.1 400"),
                    HasSubstr("which no headrace node does")));
  const auto [code, said] = status_command(where);
  EXPECT_EQ(code, exit_code::cannot_connect);
  EXPECT_THAT(said, HasSubstr("something else listens at " + where));
}

TEST(WrongAddress, SomethingListensThereAndSaysNothing) {
  raw_server silent{""};
  const auto why = asked_at(text_of(silent.where()));
  EXPECT_EQ(why.code(), status_code::unavailable);
  EXPECT_THAT(why.message(), AllOf(HasSubstr(text_of(silent.where())), HasSubstr("said nothing"),
                                   HasSubstr("another service's port")));
}

TEST(WrongAddress, SomethingListensThereAndSendsNoise) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random{seed};
  for (size_t size : {3, 36, 4096}) {
    std::string noise(size, '\0');
    for (auto& x : noise) x = static_cast<char>(random());
    raw_server server{noise};
    const auto why = asked_at(text_of(server.where()));
    EXPECT_FALSE(why.ok());
    EXPECT_THAT(why.message(),
                AllOf(HasSubstr(text_of(server.where())), HasSubstr("something else listens")));
  }
}

TEST(WrongAddress, ItIsAWorkersDataPort) {
  local_cluster cluster{{.workers = 1}};
  const auto where = "127.0.0.1:" + std::to_string(cluster.ports().at(1));
  const auto why = asked_at(where);
  EXPECT_FALSE(why.ok());
  EXPECT_THAT(why.message(), AllOf(HasSubstr(where), HasSubstr("another service's port")));
}

TEST(WrongAddress, ADispatcherOfAnotherMajorVersionIsNamedWithBothVersions) {
  node server{{.role = node_role::dispatcher}};
  auto stranger = port::spawn<stranger_state>(system_of(server));
  adopt(server, caf::actor_cast<caf::actor>(stranger));
  auto port = system_of(server).middleman().publish(stranger, 0, "127.0.0.1", true);
  ASSERT_TRUE(port);
  const auto where = host_and_port("127.0.0.1", *port);
  const auto why = asked_at(where, 1h);
  EXPECT_EQ(why.code(), status_code::failed_precondition);
  EXPECT_THAT(why.message(), AllOf(HasSubstr(where), HasSubstr("9.3"), HasSubstr("2.0"),
                                   HasSubstr("must be equal, update the older one")));
  const auto [code, said] = status_command(where);
  EXPECT_EQ(code, exit_code::version_mismatch);
  EXPECT_THAT(said, AllOf(HasSubstr(where), HasSubstr("9.3"), HasSubstr("2.0")));
}

TEST(WrongAddress, APortInUseIsNamedAndTheServersThatHaveItLiveOn) {
  local_cluster cluster{{.workers = 1}};
  for (auto port : cluster.ports()) {
    SCOPED_TRACE(port);
    const endpoint_options taken{.port = port, .data_port = port};
    const auto says_so =
      AllOf(HasSubstr(std::to_string(port)), HasSubstr("in use"), HasSubstr("choose another port"));
    const auto dispatcher = thrown_by([&] { dispatcher_server{{.endpoint = taken}}; });
    EXPECT_EQ(dispatcher.code(), status_code::already_exists);
    EXPECT_THAT(dispatcher.message(), says_so);
    const auto worker =
      thrown_by([&] { worker_server{{.dispatcher = cluster.target(), .endpoint = taken}}; });
    EXPECT_EQ(worker.code(), status_code::already_exists);
    EXPECT_THAT(worker.message(), says_so);
  }
  EXPECT_EQ(outcomes(dataset::range(3).apply(distribute{{.service = cluster.target()}}),
                     [](const tensor_view& x) { return std::to_string(x.scalar<int64_t>()); }),
            (std::vector<std::string>{"0", "1", "2"}));
}

} // namespace
} // namespace headrace::detail::test
