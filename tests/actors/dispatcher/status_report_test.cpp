#include "headrace/actors/dispatcher/status_report.hpp"
#include "headrace/actors/protocol/codec/envelope_parts.hpp"

#include <gmock/gmock.h>

namespace headrace::detail::test {
namespace {

envelope job_answer(size_t bytes) {
  return make_dispatcher_answer(1, [&](schema::DispatcherMessage::Builder b) {
    b.initStatus().initJobs(1)[0].setFailure(std::string(bytes, 'x'));
  });
}

TEST(StatusReport, LeavesOutTheLargestPartsAndSaysSo) {
  constexpr size_t mib = size_t{1} << 20;
  worker_reports told;
  for (uint64_t i = 1; i <= 100; ++i)
    told.trees[worker_id{i}] = mutable_buffer{i == 50 ? 2 * mib : mib}.freeze();
  std::vector<envelope> jobs{job_answer(mib)};
  EXPECT_EQ(leave_out_what_is_too_large(told, jobs, 200 * mib), "");
  EXPECT_EQ(told.trees.size(), 100u);
  const auto note = leave_out_what_is_too_large(told, jobs, 48 * mib);
  EXPECT_THAT(note, testing::HasSubstr("54 reports of workers"));
  EXPECT_EQ(told.trees.size(), 46u) << "and a job's answer of a little more than 1 MiB";
  EXPECT_FALSE(told.trees.contains(worker_id{50}));
  EXPECT_EQ(jobs.size(), 1u);
}

TEST(StatusReport, LeavesOutJobsLast) {
  worker_reports told;
  told.trees[worker_id{1}] = mutable_buffer{100}.freeze();
  std::vector<envelope> jobs{job_answer(100), job_answer(100'000), job_answer(200)};
  const auto note = leave_out_what_is_too_large(told, jobs, 2'000);
  EXPECT_THAT(note, testing::HasSubstr("1 reports of workers"));
  EXPECT_THAT(note, testing::HasSubstr("and 1 jobs"));
  EXPECT_EQ(jobs.size(), 2u);
}

} // namespace
} // namespace headrace::detail::test
