#include "headrace/runtime/base/clock.hpp"
#include "tests/cluster/processes.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace headrace::detail::test {
namespace {

TEST(Scaling, UpStartsWorkersForATrainerThatWaitsForOne) {
  auto up = headrace_command(
    {"up", "--workers", "0..2", "--port", "0", "--http-port", "off", "--log-level", "off"});
  const auto line = up.read_until("listening on ", patience).value();
  const auto address = line.substr(line.rfind(' ') + 1);
  EXPECT_TRUE(get_service_status(address, patience).value().workers.empty());
  int64_t sum = 0;
  for (const element& x : dataset::range(100).apply(
         distribute({.processing_mode = sharding_policy::dynamic, .service = address})))
    sum += x[0].scalar<int64_t>();
  EXPECT_EQ(sum, 4950);
  EXPECT_GE(get_service_status(address, patience).value().workers.size(), 1u);
  up.kill(SIGTERM);
  EXPECT_EQ(up.wait(patience).value(), process_end{});
}

} // namespace
} // namespace headrace::detail::test
