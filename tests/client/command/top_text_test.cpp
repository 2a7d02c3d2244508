#include "headrace/client/command/status/top_text.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

namespace headrace::detail::command {
namespace {

using testing::HasSubstr;
using testing::Not;

service_status busy_service() {
  service_status out;
  out.workers = {{.worker = 1, .address = "10.0.0.1:7000", .alive = true}};
  auto& job =
    out.jobs.emplace_back(job_status{.job = 1, .name = "train\x1b[2J", .state = "running"});
  trainer_status trainer{.consumer = 1, .name = "a", .host = "gpu-7:4711"};
  trainer.waited = 0.5;
  job.trainers.push_back(trainer);
  task_status task{.task = 1, .worker = 1, .state = "running", .elements = 9};
  operator_status root{.name = "batch(32)"}, map{.name = "map(f)", .depth = 1};
  root.input = 1;
  map.busy = 0.5;
  map.queued = 0.4;
  map.output = 0.1;
  map.rows_per_second = 1'234;
  task.operators = {root, map};
  job.tasks.push_back(task);
  out.jobs.push_back({.job = 2, .name = "over", .state = "finished"});
  return out;
}

TEST(TopText, ShowsTheCauseAndWhereTheTimeGoes) {
  const auto text = top_text(busy_service(), 100, false);
  EXPECT_THAT(text, HasSubstr("cause: map(f) on 1 worker"));
  EXPECT_THAT(text, HasSubstr(">   map(f)"));
  EXPECT_THAT(text, HasSubstr("[###############qqqqqqqqqqqq   ]    1.23k/s"));
  EXPECT_THAT(text, HasSubstr("[..............................]"));
  EXPECT_THAT(text, HasSubstr("gpu-7:4711"));
  EXPECT_THAT(text, Not(HasSubstr("over")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b"))) << "names do not move the cursor";
}

TEST(TopText, TheWholeVerdictIsThereInANarrowTerminal) {
  const auto text = top_text(busy_service(), 60, false);
  EXPECT_THAT(text, HasSubstr("waited 50 % of the\n    last seconds; cause: map(f) on 1 worker"));
  EXPECT_THAT(text, HasSubstr("2 workers would do\n"));
}

TEST(TopText, NamesAreCutBetweenCharacters) {
  auto service = busy_service();
  for (size_t width = 40; width < 80; ++width) {
    for (auto& x : service.jobs[0].tasks[0].operators) x.name += "\u00e4\u6f22"; // 2 and 3 bytes
    std::istringstream lines{top_text(service, width, false)};
    for (std::string line; std::getline(lines, line);) {
      size_t end = 0; // the place where the last whole character ends
      while (end < line.size()) {
        const auto first = static_cast<unsigned char>(line[end]);
        const size_t bytes = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
        ASSERT_LE(end + bytes, line.size()) << line;
        for (size_t i = 1; i < bytes; ++i)
          ASSERT_EQ(static_cast<unsigned char>(line[end + i]) & 0xc0, 0x80) << line;
        end += bytes;
      }
    }
  }
}

TEST(TopText, OfOperatorsOfOneNameOnlyTheCauseIsMarked) {
  auto service = busy_service();
  auto& operators = service.jobs[0].tasks[0].operators;
  operators.push_back(operators[1]);
  operators[1].busy = operators[1].queued = 0;
  const auto text = top_text(service, 100, false);
  EXPECT_EQ(std::ranges::count(text, '>'), 1) << text;
}

TEST(TopText, FitsIntoTheTerminal) {
  for (const size_t width : {40u, 80u, 120u}) {
    std::istringstream lines{top_text(busy_service(), width, false)};
    for (std::string line; std::getline(lines, line);) {
      const bool names_letters = line.starts_with("  #");
      EXPECT_TRUE(names_letters || line.size() <= std::max<size_t>(width, 60)) << line;
    }
  }
}

TEST(TopText, SaysThatNoJobRuns) {
  EXPECT_THAT(top_text({}, 80, false), HasSubstr("\nno job runs\n"));
  EXPECT_THAT(top_text(busy_service(), 80, false), Not(HasSubstr("no job runs")));
}

TEST(TopText, HasColorsOnATerminal) {
  EXPECT_THAT(top_text(busy_service(), 100, true), HasSubstr("\x1b[31m###"));
}

} // namespace
} // namespace headrace::detail::command
