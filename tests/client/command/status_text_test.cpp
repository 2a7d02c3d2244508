#include "headrace/client/command/status/status_text.hpp"
#include "headrace/client/monitor/status_json.hpp"

#include "headrace/runtime/base/ids.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace headrace::detail::command {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

service_status example() {
  service_status out{
    .uptime = 90s, .datasets = 2, .work_dir = "/data/store", .disk_trouble = "the disk is full"};
  out.workers = {{.worker = 0xa1,
                  .address = "10.0.0.1:7001",
                  .tags = {"gpu", "eu"},
                  .pid = 4711,
                  .alive = true,
                  .since_heartbeat = 1500ms,
                  .metrics = {{"headrace_bad_messages", {}, uint64_t{2}},
                              {"headrace_links_refused", {{"cause", "bad_magic"}}, uint64_t{5}},
                              {"headrace_links_refused", {{"cause", "silent"}}, uint64_t{6}},
                              {"headrace_worker_stuck_threads", {}, 1.0}}},
                 {.worker = 0xa2, .address = "10.0.0.2:7002", .pid = 4712, .left = true},
                 {.worker = 0xa3, .address = "10.0.0.3:7003", .pid = 4713}};
  out.jobs = {{.job = 0xb1,
               .name = "training",
               .dataset = "digits",
               .processing_mode = "dynamic",
               .state = "running",
               .repetition = 7,
               .consumers = 2},
              {.job = 0xb2,
               .dataset = "broken",
               .processing_mode = "off",
               .state = "failed",
               .failure = "no such file"}};
  out.jobs[0].tasks = {{.task = 0xc1,
                        .worker = 0xa1,
                        .state = "running",
                        .elements = 123'456,
                        .elements_per_second = 12'345,
                        .bytes = 9'876'543,
                        .streams = 2,
                        .restarts = 1,
                        .ignored = 17}};
  out.tree = {
    {"dispatcher, process 4710", "running", 2, "exit code 75 (memory limit reached)", {}},
    {"worker a1, process 4711", "running", 0, "", {{"task c1", "waiting", 1, "not there", {}}}}};
  out.metrics = {{"headrace_bad_messages", {}, uint64_t{3}},
                 {"headrace_peers_refused", {}, uint64_t{4}},
                 {"headrace_times", {}, histogram_counts{{0.5}, {1, 2}, 3.5}}};
  return out;
}

/// The line that contains `word`, with each run of spaces replaced by one.
std::string line_with(const std::string& text, const std::string& word) {
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);)
    if (line.find(word) != std::string::npos) {
      std::istringstream words{line};
      std::string out;
      for (std::string one; words >> one;) out += (out.empty() ? "" : " ") + one;
      return out;
    }
  return {};
}

TEST(StatusText, CountsWhatWasRefused) {
  EXPECT_EQ(line_with(status_text(example()), "up "),
            "up 90 s, 2 datasets, 3 workers, 2 jobs, 3 bad messages, 4 refused peers");
}

TEST(StatusText, SaysWhereTheServiceIsKeptAndThatItsDiskIsInTrouble) {
  const auto text = status_text(example());
  EXPECT_EQ(line_with(text, "kept in"), "kept in: /data/store");
  EXPECT_EQ(line_with(text, "nothing new"), "nothing new is begun: the disk is full");
}

TEST(StatusText, ShowsEachWorkerWithItsStateAndWhatIsWrongWithIt) {
  const auto text = status_text(example());
  EXPECT_EQ(line_with(text, "7001"),
            "a1 10.0.0.1:7001 4711 alive 1.5 s gpu,eu (1 stuck thread) (2 bad messages) "
            "(refused links: 5 bad_magic, 6 silent)");
  EXPECT_EQ(line_with(text, "7002"), "a2 10.0.0.2:7002 4712 left 0.0 s -");
  EXPECT_EQ(line_with(text, "7003"), "a3 10.0.0.3:7003 4713 lost 0.0 s -");
}

TEST(StatusText, ShowsAWorkerThatIsAboutToLeaveAsDraining) {
  auto what = example();
  what.workers[0].draining = true;
  EXPECT_THAT(line_with(status_text(what), "10.0.0.1:7001"), HasSubstr("4711 draining 1.5 s"));
  EXPECT_EQ(nlohmann::json::parse(monitor::status_json(what))["workers"][0]["state"], "draining");
  what.workers[0].alive = false;
  EXPECT_THAT(line_with(status_text(what), "10.0.0.1:7001"), HasSubstr("4711 lost"));
}

TEST(StatusText, ShowsNamesThatOthersChoseWithoutTheirControlCharacters) {
  auto what = example();
  what.jobs[0].name = "a\x1b[2J\nb";
  what.workers[0].tags = {"gpu\nforged"};
  what.tree[0].name = "dispatcher\r";
  const auto text = status_text(what);
  EXPECT_THAT(text, HasSubstr("job b1 a\\u001b[2J\\nb: running"));
  EXPECT_THAT(text, HasSubstr("gpu\\nforged"));
  EXPECT_THAT(text, HasSubstr("|- dispatcher\\r  running"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(StatusText, ShowsWhoHasWhichEntryOfTheListOfWorkers) {
  auto what = example();
  EXPECT_THAT(status_text(what), Not(HasSubstr("SHARD")));
  what.worker_addresses = {{.name = "10.0.0.1:%port%", .worker = 0xa1, .address = "10.0.0.1:7001"},
                           {.name = "10.0.0.2", .worker = 0xa9, .address = "10.0.0.2:7009"},
                           {.name = "10.0.0.4:7004"}};
  const auto text = status_text(what);
  EXPECT_EQ(line_with(text, "SHARD"), "SHARD LISTED WORKER ADDRESS STATE");
  EXPECT_EQ(line_with(text, "%port%"), "0 10.0.0.1:%port% a1 10.0.0.1:7001 alive");
  EXPECT_EQ(line_with(text, "7009"), "1 10.0.0.2 a9 10.0.0.2:7009 lost");
  EXPECT_EQ(line_with(text, "7004"), "2 10.0.0.4:7004 - - free");
  const auto json = nlohmann::json::parse(monitor::status_json(what))["worker_addresses"];
  EXPECT_EQ(json[0]["state"], "alive");
  EXPECT_TRUE(json[2]["worker"].is_null());
  EXPECT_EQ(json[2]["listed"], "10.0.0.4:7004");
}

TEST(StatusText, ShowsJobsWithTheRatesOfTheirTasks) {
  const auto text = status_text(example());
  EXPECT_EQ(line_with(text, "job b1"),
            "job b1 training: running, dynamic, repetition 7, 2 consumers, dataset digits");
  EXPECT_EQ(line_with(text, "TASK"),
            "TASK WORKER STATE ELEMENTS ELEMENTS/S BYTES IGNORED STREAMS RESTARTS");
  EXPECT_EQ(line_with(text, "c1 "), "c1 a1 running 123456 12.3k 9.88M 17 2 1");
  EXPECT_EQ(line_with(text, "job b2"),
            "job b2 (anonymous): failed, off, repetition 0, 0 consumers, dataset broken");
  EXPECT_EQ(line_with(text, "no such file"), "failed: no such file");
}

service_status with_cache() {
  auto out = example();
  out.jobs[0].tasks[0].window = {.first = 100,
                                 .end = 2'000,
                                 .bytes = 15'200,
                                 .budget = 1 << 20,
                                 .blocks = 40,
                                 .encoded = 39,
                                 .trainers = {{"fast", 0, 0, 1}, {"slow", 1'900, 100, 0}}};
  return out;
}

TEST(StatusText, ShowsWhatTrainersShareAndHowFarTheyAre) {
  const auto text = status_text(with_cache());
  EXPECT_EQ(line_with(text, "cache:"), "cache: 15.2k of 1.05M bytes, elements 100 to 2000, 40 "
                                       "blocks made, 39 encoded");
  EXPECT_EQ(line_with(text, "trainer fast"), "trainer fast: 0 behind, 0 skipped");
  EXPECT_EQ(line_with(text, "trainer slow"), "trainer slow: 1900 behind, 100 skipped, away");
  const nlohmann::json window{
    {"first", 100},
    {"end", 2'000},
    {"bytes", 15'200},
    {"budget", 1 << 20},
    {"blocks", 40},
    {"encoded", 39},
    {"trainers",
     {{{"trainer", "fast"}, {"lag", 0}, {"skipped", 0}, {"streams", 1}},
      {{"trainer", "slow"}, {"lag", 1'900}, {"skipped", 100}, {"streams", 0}}}}};
  EXPECT_EQ(
    nlohmann::json::parse(monitor::status_json(with_cache()))["jobs"][0]["tasks"][0]["window"],
    window);
}

TEST(StatusText, ShowsHowFarTheRoundsAre) {
  auto x = example();
  x.jobs[0].rounds = {.consumers = 4,
                      .missing = {1, 3},
                      .epoch = 2,
                      .first_round = 100,
                      .tasks = {0xc1, 0xc2},
                      .round = 120};
  EXPECT_EQ(
    line_with(status_text(x), "rounds:"),
    "rounds: 4 consumers, missing 1, 3, at round 120, of 2 tasks since round 100 (epoch 2)");
  const nlohmann::json rounds{{"consumers", 4},     {"missing", {1, 3}}, {"epoch", 2},
                              {"first_round", 100}, {"round", 120},      {"tasks", {"c1", "c2"}}};
  EXPECT_EQ(nlohmann::json::parse(monitor::status_json(x))["jobs"][0]["rounds"], rounds);
  x.jobs[0].rounds = {.consumers = 2, .missing = {0}};
  EXPECT_EQ(line_with(status_text(x), "rounds:"), "rounds: 2 consumers, missing 0, none has begun");
}

TEST(StatusText, DrawsTheTreeWithRestartsAndTheLastReason) {
  EXPECT_THAT(status_text(example()),
              HasSubstr("supervision\n"
                        "|- dispatcher, process 4710  running, restarted 2 times, last because: "
                        "exit code 75 (memory limit reached)\n"
                        "`- worker a1, process 4711  running\n"
                        "   `- task c1  waiting, restarted 1 time, last because: not there\n"));
}

TEST(StatusText, OfAnEmptyServiceHasNoTables) {
  const auto text = status_text({});
  EXPECT_THAT(text, HasSubstr("0 workers"));
  for (const auto* heading : {"WORKER", "TASK", "supervision"})
    EXPECT_THAT(text, Not(HasSubstr(heading)));
}

TEST(StatusJson, HoldsTheSame) {
  const auto text = monitor::status_json(example());
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["uptime_seconds"], 90.0);
  EXPECT_EQ(json["datasets"], 2);
  EXPECT_EQ(json["bad_messages"], 3);
  EXPECT_EQ(json["work_dir"], "/data/store");
  EXPECT_EQ(json["disk_trouble"], "the disk is full");
  EXPECT_EQ(json["refused_peers"], 4);
  const nlohmann::json worker{
    {"worker", "a1"},        {"address", "10.0.0.1:7001"},
    {"tags", {"gpu", "eu"}}, {"pid", 4711},
    {"alive", true},         {"state", "alive"},
    {"stuck_threads", 1},    {"refused_links", {{"bad_magic", 5}, {"silent", 6}}},
    {"bad_messages", 2},     {"since_heartbeat_seconds", 1.5}};
  auto shown = json["workers"][0];
  shown.erase("metrics");
  EXPECT_EQ(shown, worker);
  EXPECT_EQ(json["workers"][0]["metrics"][1], nlohmann::json::parse(R"({
    "name": "headrace_links_refused", "kind": "counter", "labels": {"cause": "bad_magic"},
    "value": 5})"));
  EXPECT_EQ(json["metrics"][2], nlohmann::json::parse(R"({
    "name": "headrace_times", "kind": "histogram", "labels": {},
    "value": {"bounds": [0.5], "counts": [1, 2], "sum": 3.5}})"));
  EXPECT_EQ(json["workers"][1]["state"], "left");
  EXPECT_EQ(json["workers"][2]["state"], "lost");
  const nlohmann::json task{{"task", "c1"},
                            {"worker", "a1"},
                            {"state", "running"},
                            {"elements", 123'456},
                            {"bytes", 9'876'543},
                            {"elements_per_second", 12'345.0},
                            {"streams", 2},
                            {"restarts", 1},
                            {"ignored", 17},
                            {"window", nullptr},
                            {"operators", nlohmann::json::array()}};
  EXPECT_EQ(json["jobs"][0]["tasks"], nlohmann::json::array({task}));
  EXPECT_EQ(json["jobs"][0]["job"], to_hex(example().jobs[0].job));
  EXPECT_EQ(json["jobs"][0]["repetition"], 7);
  EXPECT_EQ(json["jobs"][1]["failure"], "no such file");
  EXPECT_EQ(json["tree"][0]["restarts"], 2);
  EXPECT_EQ(json["tree"][0]["last_reason"], "exit code 75 (memory limit reached)");
  EXPECT_EQ(json["tree"][1]["children"][0]["last_reason"], "not there");
}

TEST(StatusJson, BearsNamesThatAreNotUtf8) {
  service_status x;
  x.jobs = {{.name = "\xff\xfe"}};
  EXPECT_TRUE(nlohmann::json::parse(monitor::status_json(x))["jobs"][0]["name"].is_string());
}

} // namespace
} // namespace headrace::detail::command
