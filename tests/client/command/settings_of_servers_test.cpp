#include "headrace/client/command/settings/settings_file.hpp"
#include "headrace/client/command/settings/settings_text.hpp"
#include "tests/client/support/command.hpp"
#include "tests/client/support/config_file.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace headrace::detail::command {
namespace {

using test::config_file;
using test::run_command;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// -- servers in processes of their own --------------------------------------------------------

TEST(Settings, WhatWasSetGoesOnAsFlagsOfWhomItConcerns) {
  const config_file file{
    "lease = \"9s\"\nworker_addresses = [\"a:1\", \"b\"]\nplugin = [\"x\", \"y\"]\n"
    "[up]\nport = 7\nlog_file = \"log\"\n"};
  const auto now = settle(server_kind::up, {.values = {{"isolate", {"true"}}}, .file = file.name()},
                          {{"HEADRACE_INSECURE", "true"}})
                     .value();
  EXPECT_EQ(flags_for(now, server_kind::dispatcher, {"port"}),
            (texts{"--lease=9s", "--worker-addresses=a:1,b", "--insecure=true", "--log-file=log"}));
  EXPECT_EQ(flags_for(now, server_kind::worker, {"log-file"}),
            (texts{"--lease=9s", "--plugin=x", "--plugin=y", "--insecure=true"}));
}

TEST(Settings, AServerThatIsToldAllByFlagsReadsNoVariable) {
  environment all;
  for (const auto& one : no_variables()) all.emplace(one.substr(0, one.find('=')), "");
  for (const auto& one : all_settings()) EXPECT_TRUE(all.contains(one.variable())) << one.name;
  EXPECT_TRUE(all.contains("HEADRACE_CONFIG"));
  for (const auto kind : server_kinds) EXPECT_TRUE(settle(kind, {}, all).value().from.empty());
}

// -- effects of settings ----------------------------------------------------------------------

TEST(Settings, AServerListensWhereItsFileSays) {
  const config_file file{"port = 0\n[dispatcher]\nport_file = \"" + testing::TempDir()
                         + "headrace_settings_port\"\nlog_level = \"off\"\n"};
  test::started server{{"dispatcher", "--config", file.name()}};
  std::string port;
  std::ifstream{testing::TempDir() + "headrace_settings_port"} >> port;
  EXPECT_EQ(port, server.port());
}

TEST(Settings, TheServiceOfTheEnvironmentIsWhereWorkersGoAndWhoseStatusIsShown) {
  test::started server{{"dispatcher", "--port", "0"}};
  const std::vector<std::string> service{"HEADRACE_SERVICE=" + server.address};
  auto there = test::start_command({"worker"}, true, service);
  ASSERT_TRUE(there.read_until("registered", test::command_patience).ok());
  const auto said = run_command({"status"}, service);
  EXPECT_EQ(said.code, exit_code::ok) << said.text;
  EXPECT_THAT(said.text, HasSubstr("worker"));
  // An address in the command line takes precedence.
  const auto other = run_command({"status", "--dispatcher", "127.0.0.1:1"}, service);
  EXPECT_EQ(other.code, exit_code::cannot_connect);
  EXPECT_THAT(other.text, HasSubstr("127.0.0.1:1"));
  const auto wrong = run_command({"status"}, {"HEADRACE_SERVICE=nowhere"});
  EXPECT_EQ(wrong.code, exit_code::usage);
  EXPECT_THAT(wrong.text, HasSubstr("HEADRACE_SERVICE: address \"nowhere\": the port is missing"));
}

TEST(Settings, StatusTakesTheTlsFilesOfTheEnvironmentUnlessItIsGivenOthers) {
  const std::vector<std::string> files{"HEADRACE_TLS_CERT=/nowhere/cert.pem",
                                       "HEADRACE_TLS_KEY=/nowhere/key.pem",
                                       "HEADRACE_TLS_CA=/nowhere/ca.pem"};
  std::vector<std::string> command{"status", "--dispatcher", "127.0.0.1:1"};
  const auto said = run_command(command, files);
  EXPECT_NE(said.code, exit_code::ok);
  EXPECT_THAT(said.text, HasSubstr("/nowhere/"));
  for (const auto* file : {"cert", "key", "ca"}) {
    command.push_back(fmt::format("--tls-{}", file));
    command.push_back(fmt::format("/elsewhere/{}.pem", file));
  }
  const auto other = run_command(command, files);
  EXPECT_THAT(other.text, AllOf(HasSubstr("/elsewhere/"), Not(HasSubstr("/nowhere/"))));
}

TEST(Settings, TheExampleOfTheDocumentIsRead) {
  std::ifstream in{test::expected_path("../../docs/configuration.md")};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  const std::string_view opening = "```toml\n";
  const auto begin = text.find(opening) + opening.size();
  const config_file file{text.substr(begin, text.find("```", begin) - begin)};
  for (const auto kind : server_kinds) {
    const auto now = settle(kind, {.values = {}, .file = file.name()}, {});
    ASSERT_TRUE(now.ok()) << to_string(now.status());
    EXPECT_EQ(now->from.at("lease"), file.name() + ":2");
  }
}

TEST(Settings, AWorkerThatGivesUpItsDispatcherEndsWithACodeAndSaysWhy) {
  for (const bool under_parent : {true, false}) {
    std::vector<std::string> command{
      "worker", "--dispatcher", "127.0.0.1:1", "--dispatcher-timeout",
      "100ms",  "--log-level",  "off"};
    if (!under_parent)
      command.push_back("--no-restart");
    const auto said = run_command(command);
    EXPECT_EQ(said.code, exit_code::cannot_connect);
    EXPECT_THAT(said.text, AllOf(HasSubstr("dispatcher at 127.0.0.1:1 did not answer for 0.1 s"),
                                 HasSubstr("nobody listens")));
  }
}

} // namespace
} // namespace headrace::detail::command
