#include "tests/client/support/command.hpp"

#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

using server = test::started;
using test::command_patience;
using test::run_command;
using test::start_command;

TEST(Command, HelpTellsEverySubcommandWithItsDefaultsAndTheExitCodes) {
  const auto said = run_command({"--help"});
  EXPECT_EQ(said.code, exit_code::ok);
  for (const auto* part :
       {"dispatcher", "worker", "up", "status", "version", "--port PORT=5050", "--lease TIME=5s",
        "--dispatcher HOST:PORT=127.0.0.1:5050", "--memory-limit BYTES=0", "75  memory limit"})
    EXPECT_THAT(said.text, HasSubstr(part));
}

TEST(Command, HelpOfOneSubcommandTellsItsOptionsOnly) {
  const auto said = run_command({"status", "--help"});
  EXPECT_EQ(said.code, exit_code::ok);
  EXPECT_THAT(said.text, HasSubstr("--watch"));
  EXPECT_THAT(said.text, testing::Not(HasSubstr("--data-port")));
}

TEST(Command, VersionNamesTheProgram) {
  const auto said = run_command({"version"});
  EXPECT_EQ(said.code, exit_code::ok);
  EXPECT_THAT(said.text, testing::MatchesRegex("headrace [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  for (const auto* flag : {"--version", "-V"}) {
    const auto same = run_command({flag});
    EXPECT_EQ(same.code, exit_code::ok) << flag;
    EXPECT_EQ(same.text, said.text) << flag;
  }
}

struct wrong_line {
  std::vector<std::string> arguments;
  std::string answer;
};

TEST(Command, AWrongCommandLineEndsWithCodeTwoAndSaysWhatWouldBeRight) {
  const wrong_line lines[]{
    {{},
     "There is: dispatcher, worker, up, run, status, top, report, drain, config, certificates, "
     "explain, version"},
    {{"wroker"}, "Did you mean worker?"},
    {{"nonsense"}, "There is: dispatcher"},
    {{"--port", "1"}, "a command comes before '--port'"},
    {{"worker", "--dispatchr", "x:1"}, "Did you mean --dispatcher?"},
    {{"worker", "--dispatcher", "x"}, "the port is missing"},
    {{"dispatcher", "--port", "99999"}, "a number from 0 (any free one) to 65535"},
    {{"dispatcher", "--port", "-1"}, "a number from 0 (any free one) to 65535"},
    {{"dispatcher", "--lease", "5"}, "such as 250ms, 5s"},
    {{"dispatcher", "--heartbeat", "0s"}, "longer than nothing"},
    {{"dispatcher", "--lease", "1s"}, "at least twice --heartbeat"},
    {{"dispatcher", "--client-timeout", "1s"},
     "--client-timeout must be at least twice --heartbeat"},
    {{"dispatcher", "--job-gc-timeout", "soon"}, "or never"},
    {{"dispatcher", "--job-gc-check-interval", "0s"}, "longer than nothing"},
    {{"worker", "--lease", "0s"}, "longer than nothing"},
    {{"dispatcher", "--memory-limit", "lots"}, "such as 1048576, 512M"},
    {{"dispatcher", "--log-level", "loud"}, "debug"},
    {{"up", "--lease", "1s"}, "at least twice --heartbeat"},
    {{"worker", "--advertise-data", "relay"}, "the port is missing"},
    {{"up", "--workers", "-2"}, "not a number of workers from 0 to 1024"},
    {{"status", "--watch", "often"}, "such as 250ms"},
    {{"drain"}, "worker is required"},
    {{"drain", "somewhere"}, "neither the address of a worker (host:port) nor its number"},
    {{"drain", "1", "--timeout", "soon"}, "such as 250ms"},
    {{"up", "--isolate", "--no-restart"}, "--isolate and --no-restart do not go together"},
  };
  for (const auto& line : lines) {
    const auto said = run_command(line.arguments);
    EXPECT_EQ(said.code, exit_code::usage) << testing::PrintToString(line.arguments);
    EXPECT_THAT(said.text, HasSubstr(line.answer));
  }
}

TEST(Command, ServersSayWhereTheyListenAndStatusShowsThem) {
  server dispatcher{{"dispatcher", "--port", "0"}};
  EXPECT_EQ(dispatcher.name, "dispatcher");
  auto worker = start_command({"worker", "--dispatcher", dispatcher.address, "--tag", "gpu"}, true);
  ASSERT_TRUE(worker.read_until("registered", command_patience).ok());
  const auto said = run_command({"status", "--json", "--dispatcher", dispatcher.address});
  ASSERT_EQ(said.code, exit_code::ok) << said.text;
  const auto status = nlohmann::json::parse(said.text);
  ASSERT_EQ(status["workers"].size(), 1u) << said.text;
  EXPECT_EQ(status["workers"][0]["alive"], true);
  EXPECT_EQ(status["workers"][0]["tags"], nlohmann::json::array({"gpu"}));
  EXPECT_THAT(run_command({"status", "--dispatcher", dispatcher.address}).text, HasSubstr("gpu"));
}

TEST(Command, UpBringsDispatcherAndWorkers) {
  server cluster{{"up", "--workers", "3", "--port", "0"}};
  const auto said = run_command({"status", "--json", "--dispatcher", cluster.address});
  ASSERT_EQ(said.code, exit_code::ok) << said.text;
  EXPECT_EQ(nlohmann::json::parse(said.text)["workers"].size(), 3u);
}

TEST(Command, AWorkerThatTheDispatchersListDoesNotHaveEndsAndSaysSo) {
  server dispatcher{{"dispatcher", "--port", "0", "--worker-addresses", "elsewhere"}};
  const auto said = run_command({"worker", "--dispatcher", dispatcher.address});
  EXPECT_EQ(said.code, exit_code::failure);
  EXPECT_THAT(said.text, HasSubstr("headrace worker: the worker at 127.0.0.1:"));
  EXPECT_THAT(said.text, HasSubstr("is not among the worker_addresses of this dispatcher "
                                   "(elsewhere)"));
  const auto both = run_command({"up", "--port", "0", "--worker-addresses", "elsewhere"});
  EXPECT_EQ(both.code, exit_code::failure);
  EXPECT_THAT(both.text, HasSubstr("headrace up: the worker at 127.0.0.1:"));
}

TEST(Command, StopsWithCodeZeroOnEachStopSignal) {
  for (int signal : {SIGTERM, SIGINT}) {
    server dispatcher{{"dispatcher", "--port", "0"}};
    dispatcher.process.kill(signal);
    EXPECT_EQ(dispatcher.process.wait(command_patience).value(), process_end{}) << signal;
  }
}

TEST(Command, AWorkerStopsWhileItsDispatcherIsNotThere) {
  server worker{{"worker", "--dispatcher", "127.0.0.1:1"}};
  EXPECT_EQ(worker.name, "worker");
  worker.process.kill(SIGTERM);
  EXPECT_EQ(worker.process.wait(command_patience).value(), process_end{});
}

TEST(Command, APortInUseIsNamed) {
  server first{{"dispatcher", "--port", "0"}};
  const auto said = run_command({"dispatcher", "--port", first.port()});
  EXPECT_EQ(said.code, exit_code::cannot_listen);
  EXPECT_THAT(said.text, HasSubstr("port " + first.port()));
}

TEST(Command, OffLoopbackNeedsTlsOrAnExplicitWord) {
  const auto said = run_command({"dispatcher", "--host", "0.0.0.0", "--port", "0"});
  EXPECT_NE(said.code, exit_code::ok);
  EXPECT_THAT(said.text, HasSubstr("insecure"));
  server open{{"dispatcher", "--host", "0.0.0.0", "--port", "0", "--insecure"}};
  EXPECT_EQ(open.name, "dispatcher");
}

TEST(Command, UpOffLoopbackNeedsTlsOrAnExplicitWordToo) {
  const auto said = run_command({"up", "--host", "0.0.0.0", "--port", "0"});
  EXPECT_NE(said.code, exit_code::ok);
  EXPECT_THAT(said.text, HasSubstr("headrace up: refusing"));
  server open{{"up", "--host", "0.0.0.0", "--port", "0", "--insecure", "--workers", "2"}};
  const auto status = run_command({"status", "--json", "--dispatcher", "127.0.0.1:" + open.port()});
  ASSERT_EQ(status.code, exit_code::ok) << status.text;
  EXPECT_EQ(nlohmann::json::parse(status.text)["workers"].size(), 2u);
}

TEST(Command, StatusSaysWhenNobodyListens) {
  const auto said = run_command({"status", "--dispatcher", "127.0.0.1:1"});
  EXPECT_EQ(said.code, exit_code::cannot_connect);
  EXPECT_THAT(said.text, HasSubstr("127.0.0.1:1"));
}

TEST(Command, ThePortFileHoldsThePort) {
  const auto file = testing::TempDir() + "headrace_port_file";
  {
    server dispatcher{{"dispatcher", "--port", "0", "--port-file", file}};
    std::string port;
    std::ifstream{file} >> port;
    EXPECT_EQ(port, dispatcher.port());
    dispatcher.process.kill(SIGTERM);
    EXPECT_EQ(dispatcher.process.wait(command_patience).value(), process_end{});
  }
  EXPECT_FALSE(std::ifstream{file}) << "the server is gone";
}

/// The process id of the server, which is the only child of the process that was started.
pid_t child_of(const server& parent) {
  const auto pid = std::to_string(parent.process.pid());
  pid_t child = 0;
  std::ifstream{"/proc/" + pid + "/task/" + pid + "/children"} >> child;
  return child;
}

TEST(Command, AServerThatCrashesIsStartedAgainOnItsPort) {
  server dispatcher{{"dispatcher", "--port", "0"}};
  const auto child = child_of(dispatcher);
  ASSERT_GT(child, 0);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  EXPECT_EQ(dispatcher.process.read_until(" listening on ", command_patience).value(),
            "dispatcher listening on " + dispatcher.address);
}

TEST(Command, AClusterThatCrashesIsStartedAgainOnAllItsPorts) {
  server cluster{{"up", "--workers", "3", "--port", "0"}};
  const auto addresses = [&] {
    const auto said = run_command({"status", "--json", "--dispatcher", cluster.address});
    std::set<std::string> out;
    const auto status = nlohmann::json::parse(said.text, nullptr, false);
    if (status.is_object())
      for (const auto& worker : status["workers"]) out.insert(worker["address"]);
    return out;
  };
  const auto before = addresses();
  EXPECT_EQ(before.size(), 3u);
  const auto child = child_of(cluster);
  ASSERT_GT(child, 0);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(cluster.process.read_until(" listening on ", command_patience).value(),
            "dispatcher listening on " + cluster.address);
  EXPECT_EQ(addresses(), before);
}

} // namespace
} // namespace headrace::detail
