#include "tests/actors/worker/worker_core_fixture.hpp"

#include <algorithm>

namespace headrace::detail::test {
namespace {

TEST_F(WorkerCore, AsksForStepsOfSavesOnlyOnceItIsRegistered) {
  constexpr save_id saved{7};
  registered();
  EXPECT_EQ(said(core.saves_offered()), (texts{"ask for steps, 0 running, 0 reports"}));
  save_steps steps;
  steps.orders.push_back({.what = {saved, "/saved", "d", "", ""}, .number = 3});
  core.save_steps_answered(connection, steps);
  core.dispatcher_down(unavailable("gone"), now);
  connected();
  EXPECT_TRUE(core.save_step_ended({saved, 3, piece_written{}}).empty());
  const auto out = said(
    core.registered(connection, worker_registered{worker_id{5}, {seconds(1), seconds(5)}}, now));
  EXPECT_EQ(std::ranges::count(out, "ask for steps, 0 running, 1 reports"), 1);
}

} // namespace
} // namespace headrace::detail::test
