#include "headrace/client/server.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <variant>

namespace headrace::detail {
namespace {

TEST(WorkerMetrics, AreReadByThePartsThatProgramsHave) {
  const worker_server worker{{.dispatcher = "127.0.0.1:1"}};
  const auto all = worker.metrics();
  const auto accepted = std::ranges::find(all, "headrace_links_accepted", &metric_sample::name);
  ASSERT_NE(accepted, all.end()) << "a metric to which nothing was added is there, too";
  EXPECT_EQ(kind_of(*accepted), "counter");
  EXPECT_EQ(std::get<uint64_t>(accepted->value), 0u);
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &metric_sample::name));
}

} // namespace
} // namespace headrace::detail
