#include "headrace/client/monitor/open_metrics.hpp"

#include "headrace/client/monitor/service_metrics.hpp"

#include <gmock/gmock.h>

namespace headrace::detail::monitor {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr counter_info words{{"headrace_words", "", "Words that were \"read\"."}};
constexpr gauge_info depth{{"headrace_depth_bytes", "bytes", "How deep."}};
constexpr std::array<double, 2> bounds{0.5, 2};
constexpr histogram_info times{{"headrace_times_seconds", "seconds", "Times."}, bounds};

TEST(OpenMetrics, ReplacesZeroBytesAndBytesThatAreNotUtf8) {
  metric_registry all;
  all.get(words, {{"kind", std::string{"a\0b", 3}}}).add(7);
  all.get(words, {{"kind", "\u5b9f\xe9\xa8"}}).add(8);
  metric_families out;
  add_registry(out, all);
  EXPECT_THAT(open_metrics_text(out), HasSubstr("{kind=\"a\uFFFDb\"} 7"));
  EXPECT_THAT(open_metrics_text(out), HasSubstr("{kind=\"\u5b9f\uFFFD\uFFFD\"} 8"));
}

TEST(OpenMetrics, WritesFamiliesWithKindUnitAndHelp) {
  metric_registry all;
  all.get(words, {{"kind", "a \"b\"\n\\"}}).add(7);
  all.get(depth).set(1.5);
  auto& h = all.get(times);
  h.observe(0.1);
  h.observe(1);
  h.observe(9);
  metric_families out;
  add_registry(out, all);
  EXPECT_EQ(open_metrics_text(out), R"(# TYPE headrace_depth_bytes gauge
# UNIT headrace_depth_bytes bytes
# HELP headrace_depth_bytes How deep.
headrace_depth_bytes 1.5
# TYPE headrace_times_seconds histogram
# UNIT headrace_times_seconds seconds
# HELP headrace_times_seconds Times.
headrace_times_seconds_bucket{le="0.5"} 1
headrace_times_seconds_bucket{le="2"} 2
headrace_times_seconds_bucket{le="+Inf"} 3
headrace_times_seconds_count 3
headrace_times_seconds_sum 10.1
# TYPE headrace_words counter
# HELP headrace_words Words that were \"read\".
headrace_words_total{kind="a \"b\"\n\\"} 7
# EOF
)");
}

TEST(OpenMetrics, KeepsEachFamilyTogetherWhereverItsSamplesAreFrom) {
  metric_families out;
  add_samples(out, {{"headrace_x_bytes", {}, uint64_t{1}}}, {{"worker", "a"}});
  add_samples(out, {{"headrace_x_bytes", {}, uint64_t{2}}}, {{"worker", "b"}});
  add_samples(out, {{"headrace_x_bytes", {}, 2.5}}, {{"worker", "c"}});
  EXPECT_EQ(open_metrics_text(out), R"(# TYPE headrace_x_bytes counter
# UNIT headrace_x_bytes bytes
headrace_x_bytes_total{worker="a"} 1
headrace_x_bytes_total{worker="b"} 2
# EOF
)") << "another version's metric of that name is of another kind";
}

TEST(ServiceMetrics, ShowJobsTasksOperatorsAndTrainers) {
  service_status x;
  x.workers = {{.worker = 1, .address = "10.0.0.1:7000", .alive = true}};
  auto& job = x.jobs.emplace_back(job_status{.job = 0xab, .name = "train", .state = "running"});
  auto& task =
    job.tasks.emplace_back(task_status{.task = 5, .worker = 1, .state = "running", .elements = 42});
  task.operators = {{.name = "map(f)", .busy = 0.75, .output = 0.25}};
  job.trainers = {{.consumer = 9, .name = "a", .waited = 0.5, .elements = 41}};
  const auto text = open_metrics_text(metrics_of(x));
  EXPECT_THAT(text, HasSubstr("headrace_workers{state=\"alive\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("headrace_task_elements_total{id=\"ab\",job=\"train\",task=\"5\","
                              "worker=\"10.0.0.1:7000\"} 42\n"));
  EXPECT_THAT(text, HasSubstr("operator=\"map(f)\",state=\"busy\",task=\"5\","
                              "worker=\"10.0.0.1:7000\"} 0.75\n"));
  EXPECT_THAT(text, HasSubstr("headrace_trainer_waited_ratio{consumer=\"9\",host=\"\",id=\"ab\","
                              "job=\"train\",trainer=\"a\"} 0.5\n"));
  EXPECT_THAT(text, HasSubstr("headrace_job_cause{cause=\"operator\",id=\"ab\",job=\"train\","
                              "what=\"map(f)\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("headrace_job_wanted_workers{id=\"ab\",job=\"train\"} 2\n"));
  EXPECT_THAT(text, Not(HasSubstr("headrace_job_round{")));
}

TEST(ServiceMetrics, DescribeWhatWorkersCount) {
  service_status x;
  x.workers = {{.worker = 1,
                .address = "10.0.0.1:7000",
                .alive = true,
                .metrics = {{"headrace_worker_tasks", {}, 3.},
                            {"headrace_of_another_version", {}, uint64_t{1}}}}};
  const auto all = metrics_of(x);
  EXPECT_THAT(all.at("headrace_worker_tasks").help, testing::EndsWith("."));
  EXPECT_EQ(all.at("headrace_of_another_version").help, "");
  EXPECT_THAT(open_metrics_text(all), HasSubstr("# HELP headrace_worker_tasks "));
}

} // namespace
} // namespace headrace::detail::monitor
