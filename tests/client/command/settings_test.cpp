#include "headrace/client/command/settings/settings_file.hpp"
#include "headrace/client/command/settings/settings_text.hpp"
#include "tests/client/support/command.hpp"
#include "tests/client/support/config_file.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <set>

namespace headrace::detail::command {
namespace {

using test::config_file;
using test::outcome;
using test::run_command;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr auto dispatcher = server_kind::dispatcher, worker = server_kind::worker,
               up = server_kind::up;

// -- every setting ----------------------------------------------------------------------------

/// One row of the table: a value that is not the default, one that is invalid, and the error text
/// for it.
struct row {
  std::string name;
  server_kind kind;
  std::string right;
  std::string wrong;
  std::string said;
};

/// The table of all settings. A `wrong` of `-` means that no text is invalid for the setting.
const row rows[]{
  {"workers", up, "2..8", "8..2", "or a range of them such as 2..8"},
  {"dispatcher", worker, "far:7", "far", "the port is missing"},
  {"host", dispatcher, "::1", "-", ""},
  {"advertise", dispatcher, "data.example.org", "-", ""},
  {"port", dispatcher, "6000", "65536", "a number from 0 (any free one) to 65535"},
  {"http-port", dispatcher, "6002", "65536", "not a port (0 to 65535), auto or off"},
  {"http-port", worker, "auto", "on", "not a port (0 to 65535), auto or off"},
  {"data-port", worker, "6001", "x", "a number from 0 (any free one) to 65535"},
  {"advertise-data", worker, "relay:7", "relay", "the port is missing"},
  {"tag", worker, "gpu", "", "one of them is empty"},
  {"heartbeat", dispatcher, "200ms", "0s", "longer than nothing"},
  {"heartbeat", worker, "300ms", "0s", "longer than nothing"},
  {"lease", dispatcher, "7s", "7", "such as 250ms, 5s, 2m or 1h"},
  {"lease", worker, "8s", "0ms", "longer than nothing"},
  {"dispatcher-timeout", worker, "never", "0s", "longer than nothing, or never"},
  {"client-timeout", up, "3m", "soon", "such as 250ms, 5s, 2m or 1h"},
  {"job-gc-timeout", dispatcher, "never", "soon", "or never"},
  {"job-gc-check-interval", up, "1m", "0s", "longer than nothing"},
  {"gc-dynamic-sharding-jobs", dispatcher, "true", "maybe", "neither true nor false"},
  {"work-dir", dispatcher, "/var/lib/headrace", "", "names no directory"},
  {"worker-addresses", dispatcher, "a:1", "a:x", "a:x"},
  {"deployment-mode", dispatcher, "colocated", "here", "'remote', 'colocated' or 'hybrid'"},
  {"cross-trainer-cache-size", worker, "2G", "lots", "such as 1048576, 512M or 2G"},
  {"worker-max-concurrent-saves", dispatcher, "2", "0", "not in range 1 to 1024"},
  {"save-max-file-size", worker, "2G", "lots", "such as 1048576, 512M or 2G"},
  {"plugin", up, "lib.so", "", "one of them is empty"},
  {"tls-cert", dispatcher, "cert.pem", "-", ""},
  {"tls-key", dispatcher, "key.pem", "-", ""},
  {"tls-ca", dispatcher, "ca.pem", "-", ""},
  {"insecure", worker, "true", "1", "neither true nor false"},
  {"isolate", up, "true", "maybe", "neither true nor false"},
  {"drain", worker, "2s", "-1s", "such as 250ms, 5s, 2m or 1h"},
  {"max-stuck-threads", up, "3", "-1", "not a whole number of 0 or more"},
  {"memory-limit", worker, "2G", "lots", "such as 1048576, 512M or 2G"},
  {"no-restart", dispatcher, "true", "yes", "neither true nor false"},
  {"port-file", dispatcher, "port", "-", ""},
  {"log-level", dispatcher, "debug", "loud", "loud"},
  {"log-format", dispatcher, "json", "xml", "xml"},
  {"log-file", dispatcher, "log", "-", ""},
};

const setting& setting_of(const row& x) {
  for (const auto* one : settings_of(x.kind))
    if (one->name == x.name)
      return *one;
  throw std::logic_error{"there is no setting " + x.name};
}

/// The line of a configuration file that sets the setting `what` to `text`.
std::string line_of(const setting& what, const std::string& text) {
  switch (what.value.form) {
  case setting_value::shape::number:
  case setting_value::shape::flag:
    if (text.find_first_not_of("0123456789aeflrstu") == std::string::npos && text != "e")
      return what.key() + " = " + text + "\n";
    [[fallthrough]];
  case setting_value::shape::text: return fmt::format("{} = \"{}\"\n", what.key(), text);
  case setting_value::shape::list: return fmt::format("{} = [\"{}\"]\n", what.key(), text);
  }
  return {};
}

/// Adds the other two TLS files if the row has one of them: they must be set together.
void complete(const row& x, given_settings& into) {
  if (x.name.starts_with("tls-"))
    for (const auto* file : {"tls-cert", "tls-key", "tls-ca"})
      if (file != x.name)
        into.values[file] = {"another.pem"};
}

void holds(const row& x, const result<settled>& now, const std::string& from) {
  ASSERT_TRUE(now.ok()) << to_string(now.status());
  const auto& what = setting_of(x);
  EXPECT_EQ(what.value.get(now->values), (std::optional{texts{x.right}}));
  EXPECT_EQ(now->from.at(x.name), from);
}

void refused(const row& x, const result<settled>& now, const std::string& where) {
  ASSERT_FALSE(now.ok());
  EXPECT_THAT(now.status().message(), AllOf(HasSubstr(where), HasSubstr(x.said)));
}

TEST(Settings, EachOneHasARowHereAndAnotherDefault) {
  std::multiset<std::string> names, tested;
  for (const auto& one : all_settings()) names.insert(one.name);
  for (const auto& x : rows) {
    tested.insert(x.name);
    EXPECT_NE(setting_of(x).value.get(defaults_of(x.kind)), (std::optional{texts{x.right}}));
  }
  EXPECT_EQ(tested, names);
}

TEST(Settings, AFileSetsEachOneAndRefusesWhatIsWrong) {
  for (const auto& x : rows) {
    SCOPED_TRACE(x.name);
    const auto& what = setting_of(x);
    given_settings given;
    complete(x, given);
    for (const auto& table : {std::string{}, fmt::format("[{}]\n", to_string(x.kind))}) {
      const config_file file{table + line_of(what, x.right)};
      given.file = file.name();
      holds(x, settle(x.kind, given, {}), file.name() + (table.empty() ? ":1" : ":2"));
    }
    if (x.wrong == "-")
      continue;
    const config_file file{"\n" + line_of(what, x.wrong)};
    given.file = file.name();
    refused(x, settle(x.kind, given, {}), file.name() + ":2: " + what.key() + ": ");
  }
}

TEST(Settings, TheEnvironmentSetsEachOneAndRefusesWhatIsWrong) {
  for (const auto& x : rows) {
    SCOPED_TRACE(x.name);
    const auto variable = setting_of(x).variable();
    given_settings given;
    complete(x, given);
    holds(x, settle(x.kind, given, {{variable, x.right}}), variable);
    if (x.wrong != "-" && !x.wrong.empty())
      refused(x, settle(x.kind, given, {{variable, x.wrong}}), variable + ": ");
    const auto none = settle(x.kind, {}, {{variable, ""}});
    ASSERT_TRUE(none.ok());
    EXPECT_FALSE(none->from.contains(x.name)) << "an empty one is none";
  }
}

TEST(Settings, AFlagSetsEachOneAndRefusesWhatIsWrong) {
  for (const auto& x : rows) {
    SCOPED_TRACE(x.name);
    const auto& what = setting_of(x);
    const bool is_flag = what.value.form == setting_value::shape::flag;
    std::vector<std::string> command{"config", std::string{to_string(x.kind)}};
    given_settings more;
    complete(x, more);
    for (const auto& [name, value] : more.values) {
      command.push_back("--" + name);
      command.push_back(value.front());
    }
    auto wrong = command;
    command.push_back(what.flag());
    if (!is_flag)
      command.push_back(x.right);
    const auto said = run_command(command);
    EXPECT_EQ(said.code, exit_code::ok);
    EXPECT_THAT(said.text, testing::ContainsRegex(what.key() + " = [^#]*" + x.right
                                                  + "[^#]*# command line\n"));
    if (is_flag || x.wrong == "-")
      continue;
    wrong.push_back(what.flag() + "=" + x.wrong);
    const auto refusal = run_command(wrong);
    EXPECT_EQ(refusal.code, exit_code::usage);
    // For an empty text CLI11 writes an error of its own.
    const auto said_then = x.wrong.empty() ? std::string{} : x.said;
    EXPECT_THAT(refusal.text, AllOf(HasSubstr(what.flag()), HasSubstr(said_then)));
  }
}

// -- precedence -------------------------------------------------------------------------------

TEST(Settings, TheCommandLineGoesBeforeTheFileBeforeTheEnvironmentBeforeTheDefault) {
  const config_file file{"lease = \"20s\"\nport = 2\nworkers = 2\n"};
  const environment variables{
    {"HEADRACE_LEASE", "30s"}, {"HEADRACE_PORT", "3"}, {"HEADRACE_CLIENT_TIMEOUT", "30s"}};
  given_settings given;
  given.file = file.name();
  given.values["port"] = {"1"};
  const auto now = settle(up, given, variables).value();
  EXPECT_EQ(now.values.endpoint.port, 1);
  EXPECT_EQ(now.values.lease, std::chrono::seconds{20});
  EXPECT_EQ(now.values.jobs.client_timeout, std::chrono::seconds{30});
  EXPECT_EQ(now.values.heartbeat, std::chrono::seconds{1});
  EXPECT_EQ(now.from, (std::map<std::string, std::string>{
                        {"port", "command line"},
                        {"lease", file.name() + ":1"},
                        {"workers", file.name() + ":3"},
                        {"client-timeout", "HEADRACE_CLIENT_TIMEOUT"},
                      }));
}

TEST(Settings, ATableOfOneServerGoesOverWhatAllOfThemHave) {
  const auto of = [](server_kind kind, const config_file& from) {
    return settle(kind, {.values = {}, .file = from.name()}, {}).value().values;
  };
  {
    const config_file both{"lease = \"6s\"\nport = 6\n[worker]\nlease = \"7s\"\n"};
    EXPECT_EQ(of(worker, both).lease, std::chrono::seconds{7});
    EXPECT_EQ(of(dispatcher, both).lease, std::chrono::seconds{6});
  }
  const config_file tables{"[worker]\nlease = \"7s\"\n[dispatcher]\nport = 7\n"};
  EXPECT_EQ(of(worker, tables).lease, std::chrono::seconds{7});
  EXPECT_EQ(of(dispatcher, tables).lease, server_settings{}.lease);
  EXPECT_EQ(of(dispatcher, tables).endpoint.port, 7);
}

TEST(Settings, TheFileMayBeNamedByTheEnvironment) {
  const config_file file{"port = 6\n"};
  const auto now = settle(up, {}, {{"HEADRACE_CONFIG", file.name()}}).value();
  EXPECT_EQ(now.values.endpoint.port, 6);
  const auto none = settle(up, {}, {{"HEADRACE_CONFIG", "/nowhere/headrace.toml"}});
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.status().message(), HasSubstr("/nowhere/headrace.toml: cannot be read"));
}

TEST(Settings, ListsStandInArraysAndInTheEnvironmentWithCommasBetween) {
  const config_file file{"tag = [\"a\", \"b,c\"]\n"};
  EXPECT_EQ(settle(worker, {.values = {}, .file = file.name()}, {}).value().values.tags,
            (texts{"a", "b,c"}));
  EXPECT_EQ(settle(worker, {}, {{"HEADRACE_TAG", "a,b"}}).value().values.tags, (texts{"a", "b"}));
  EXPECT_THAT(run_command({"config", "worker", "--tag", "a", "--tag", "b"}).text,
              HasSubstr("tag = [\"a\", \"b\"]"));
  EXPECT_THAT(run_command({"config", "up", "--worker-addresses", "a:1,b"}).text,
              HasSubstr("worker_addresses = [\"a:1\", \"b\"]"));
  for (const auto* empty : {"a,,b", ",", "a,"})
    EXPECT_THAT(run_command({"config", "up", "--worker-addresses", empty}).text,
                HasSubstr("'' names no host"));
}

// -- errors -----------------------------------------------------------------------------------

TEST(Settings, AFileWithWhatNobodyKnowsIsRefusedWithItsLineAndWhatWasMeant) {
  const std::pair<const char*, const char*> cases[]{
    {"\nlese = \"5s\"\n", ":2: lese: there is no such setting; did you mean lease?"},
    {"job-gc-timeout = \"5s\"\n", ":1: job-gc-timeout: there is no such setting; did you mean "
                                  "job_gc_timeout?"},
    {"[worker]\nwork_dir = \"x\"\n",
     ":2: work_dir: there is no such setting of [worker]; there is "},
    {"colour = 1\n", ":1: colour: there is no such setting; there is advertise, "},
    {"[workers]\n", ":1: there is no table [workers]; there is [dispatcher], [worker] and [up]"},
    {"lease = \"5s\"\nlease = \"6s\"\n", ":2: "},
    {"lease = \"5s\n", ":1: "},
    {"port = [1]\n", ":1: port: one value would be right, not an array"},
    {"port = 1.5\n", ":1: port: one value would be right, not a fraction"},
    {"tag = 1\n", ":1: tag: an array of texts would be right, not a whole number"},
    {"tag = [[\"x\"]]\n", ":1: tag: an array of texts would be right, not an array"},
    {"[worker]\nlease = \"now\"\n", ":2: lease: 'now' is not a length of time"},
  };
  for (const auto& [text, said] : cases) {
    const config_file file{text};
    // The error is the same for all kinds of servers, also if the wrong line is in the table of
    // another kind.
    for (const auto kind : server_kinds) {
      const auto now = settle(kind, {.values = {}, .file = file.name()}, {});
      ASSERT_FALSE(now.ok()) << text;
      EXPECT_THAT(now.status().message(), testing::StartsWith(file.name() + said));
    }
  }
  const auto folder = settle(up, {.values = {}, .file = testing::TempDir()}, {});
  ASSERT_FALSE(folder.ok());
  EXPECT_THAT(folder.status().message(), HasSubstr("is a directory"));
}

TEST(Settings, AVariableNearToAKnownOneIsRefusedAndOthersAreNot) {
  for (const auto& [name, said] :
       {std::pair{"HEADRACE_LEESE", "did you mean HEADRACE_LEASE?"},
        std::pair{"HEADRACE_SERVICES", "did you mean HEADRACE_SERVICE?"},
        std::pair{"HEADRACE_CONFG", "did you mean HEADRACE_CONFIG?"},
        std::pair{"HEADRACE_DISPATCHER", "HEADRACE_SERVICE names the dispatcher"}}) {
    const auto now = settle(up, {}, {{name, "x"}});
    ASSERT_FALSE(now.ok()) << name;
    EXPECT_THAT(now.status().message(), AllOf(HasSubstr(name), HasSubstr(said)));
  }
  // These variables have no effect and are no errors: they belong to other parts of this project,
  // to Kubernetes for a service called headrace, or to other programs.
  const environment others{{"HEADRACE_BUILD_DIR", "x"},
                           {"HEADRACE_JOBS", "2"},
                           {"HEADRACE_TEST_SEED", "7"},
                           {"HEADRACE_COMMAND", "x"},
                           {"HEADRACE_PYTHON_FUNCTIONS", "x"},
                           {"HEADRACE_DATA_DIR", "x"},
                           {"HEADRACE_SERVICE_HOST", "x"},
                           {"HEADRACE_SERVICE_PORT", "5050"},
                           {"HEADRACE_FAULT_JOBS", "2"},
                           {"HEADRACE_PORT_5050_TCP", "x"},
                           {"HEADRACE_SKIP_SETUP", "1"},
                           {"HEADRACE_FAULTS", "full"},
                           {"HEADRACE_COLOUR", "blue"},
                           {"HEADRACE_WORKER_COLOUR", "blue"},
                           {"HEADRACE_PORT", "tcp://10.0.0.7:5050"}};
  for (const auto kind : server_kinds) {
    const auto now = settle(kind, {}, others);
    ASSERT_TRUE(now.ok()) << to_string(now.status());
    EXPECT_TRUE(now->from.empty());
  }
}

TEST(Settings, WhatDoesNotGoTogetherIsRefusedByTheNamesUnderWhichItWasSet) {
  const config_file file{"\nlease = \"1s\"\n"};
  const auto said = [](server_kind kind, const given_settings& given,
                       const environment& variables) {
    return settle(kind, given, variables).status().message();
  };
  EXPECT_EQ(said(dispatcher, {.values = {}, .file = file.name()}, {}),
            "lease (" + file.name()
              + ":2) must be at least twice --heartbeat: 1s and 1s would let workers die of one "
                "late message");
  EXPECT_THAT(said(up, {.values = {{"heartbeat", {"400ms"}}}, .file = {}},
                   {{"HEADRACE_CLIENT_TIMEOUT", "700ms"}}),
              HasSubstr("HEADRACE_CLIENT_TIMEOUT must be at least twice --heartbeat"));
  EXPECT_THAT(said(worker, {.values = {{"heartbeat", {"3s"}}}, .file = {}}, {}),
              HasSubstr("--lease must be at least twice --heartbeat: 5s and 3s"));
  EXPECT_THAT(said(worker, {}, {{"HEADRACE_TLS_KEY", "key.pem"}}),
              HasSubstr("HEADRACE_TLS_KEY is given without --tls-cert"));
  EXPECT_THAT(
    said(up, {.values = {{"isolate", {"true"}}}, .file = {}}, {{"HEADRACE_NO_RESTART", "true"}}),
    HasSubstr("--isolate and HEADRACE_NO_RESTART do not go together"));
}

TEST(Settings, ServersEndWithTheCodeOfAWrongCommandLine) {
  const config_file file{"lese = \"5s\"\n"};
  for (const auto kind : server_kinds) {
    const std::string name{to_string(kind)};
    for (const auto& said :
         {run_command({name, "--config", file.name()}), run_command({name}, {"HEADRACE_LEESE=5s"}),
          run_command({"config", "--config", file.name()})}) {
      EXPECT_EQ(said.code, exit_code::usage);
      EXPECT_THAT(said.text, HasSubstr("did you mean"));
    }
  }
}

// -- output -----------------------------------------------------------------------------------

TEST(Settings, WhatIsPrintedSetsTheSameAgain) {
  given_settings given;
  for (const auto& x : rows)
    if (x.kind == worker || (x.kind == dispatcher && x.name != "lease" && x.name != "heartbeat"))
      given.values[x.name] = {x.right};
  for (const auto kind : server_kinds) {
    const auto now = settle(kind, given, {}).value();
    const config_file file{settings_text(now)};
    const auto again = settle(kind, {.values = {}, .file = file.name()}, {}).value();
    for (const auto* what : settings_of(kind))
      EXPECT_EQ(what->value.get(again.values), what->value.get(now.values)) << what->name;
  }
}

TEST(Settings, ConfigPrintsWhereEachValueIsFrom) {
  const config_file file{"lease = \"9s\"\n"};
  const auto said = run_command({"config", "worker", "--config", file.name(), "--tag", "gpu"},
                                {"HEADRACE_SERVICE=far:7"});
  EXPECT_EQ(said.code, exit_code::ok);
  EXPECT_THAT(said.text, testing::ContainsRegex("dispatcher = \"far:7\" +# HEADRACE_SERVICE\n"));
  EXPECT_THAT(said.text, testing::ContainsRegex("lease = \"9s\" +# " + file.name() + ":1\n"));
  EXPECT_THAT(said.text, testing::ContainsRegex("tag = \\[\"gpu\"\\] +# command line\n"));
  EXPECT_THAT(said.text, testing::ContainsRegex("drain = \"500ms\" +# default\n"));
  EXPECT_THAT(said.text, testing::ContainsRegex("#log_file = +# not set: standard error\n"));
}

TEST(Settings, ConfigPrintsTheSameForPrograms) {
  const config_file file{"lease = \"9s\"\ninsecure = true\n"};
  const auto said =
    run_command({"config", "worker", "--json", "--config", file.name(), "--tag", "gpu"});
  EXPECT_EQ(said.code, exit_code::ok);
  const auto told = nlohmann::json::parse(said.text);
  EXPECT_EQ(told["lease"], (nlohmann::json{{"value", "9s"}, {"from", file.name() + ":1"}}));
  EXPECT_EQ(told["insecure"]["value"], true);
  EXPECT_EQ(told["data_port"]["value"], 0);
  EXPECT_EQ(told["tag"]["value"], nlohmann::json::array({"gpu"}));
  EXPECT_TRUE(told["log_file"]["value"].is_null());
}

TEST(Settings, AFileThatNeverEndsOrCannotBeReadIsRefused) {
  for (const auto& [file, said] :
       {std::pair{"/dev/zero", "is larger than"}, std::pair{"/proc/self/mem", "cannot be read"}}) {
    const auto how = run_command({"config", "dispatcher", "--config", file});
    EXPECT_NE(how.code, exit_code::ok);
    EXPECT_NE(how.code, exit_code::internal) << how.text;
    EXPECT_THAT(how.text, AllOf(HasSubstr(file), HasSubstr(said)));
  }
}

TEST(Settings, ATextWithANulIsRefused) {
  const config_file file{"log_file = \"log\\u0000rest\"\n"};
  EXPECT_THAT(run_command({"config", "dispatcher", "--config", file.name()}).text,
              AllOf(HasSubstr("log_file"), HasSubstr("NUL character")));
}

TEST(Settings, ConfigPrintsWhatIsNotUtf8AndControlCharactersAsAFileAgain) {
  const auto first = run_command({"config", "worker", "--tag", "a\177b", "--log-file", "\xff"});
  ASSERT_EQ(first.code, exit_code::ok) << first.text;
  const config_file file{first.text};
  const auto second = run_command({"config", "worker", "--config", file.name()});
  EXPECT_EQ(second.code, exit_code::ok) << second.text;
  EXPECT_THAT(second.text, HasSubstr("a\\u007fb"));
}

TEST(Settings, ConfigWithoutAServerPrintsAFileForAllOfThem) {
  const auto said = run_command({"config"}, {"HEADRACE_LEASE=9s"});
  EXPECT_EQ(said.code, exit_code::ok);
  const config_file file{said.text};
  for (const auto kind : server_kinds) {
    EXPECT_THAT(said.text, HasSubstr(fmt::format("[{}]\n", to_string(kind))));
    const auto again = settle(kind, {.values = {}, .file = file.name()}, {}).value();
    EXPECT_EQ(again.values.lease, std::chrono::seconds{9});
  }
  EXPECT_THAT(run_command({"config", "wroker"}).text, HasSubstr("Did you mean config worker?"));
}

TEST(Settings, TheDocumentHasTheTable) {
  std::ifstream in{test::expected_path("../../docs/configuration.md")};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  const auto made = testing::TempDir() + "headrace_settings.md";
  std::ofstream{made} << settings_markdown();
  EXPECT_NE(text.find(settings_markdown()), std::string::npos)
    << "the table is now that of " << made;
}

} // namespace
} // namespace headrace::detail::command
