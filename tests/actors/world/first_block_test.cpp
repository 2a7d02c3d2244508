#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "tests/actors/world/world.hpp"

#include <gtest/gtest.h>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

/// A new trainer's process, in a network in which only messages take time.
class FirstBlock : public testing::Test {
protected:
  static constexpr duration one_way = 10ms;
  /// The tolerance, in round trips: for messages inside a process, and the trainer's own pace.
  static constexpr double nearly = 0.1;

  /// The number of round trips until the first block is on its way to the trainer.
  static double round_trips(sharding_policy policy) {
    world w{{.policy = policy, .net = {.always = one_way}}};
    w.add_worker({});
    w.time.run_until(w.time.now() + 3s);
    const auto began = w.time.now();
    auto& trainer = w.add_trainer(
      {.reads = {.dataset = dataset_registration{.graph = encode_graph(w.graph).value(),
                                                 .fingerprint = "the trainer's graph"},
                 .parameters = {.mode = policy},
                 .spec = element_spec{tensor_spec{dtype::int64, shape{}}}}});
    while (trainer.history().handed_out.empty() && w.time.now() < began + 10s) w.time.step();
    EXPECT_FALSE(trainer.history().handed_out.empty());
    return std::chrono::duration<double>(w.time.now() - began - one_way)
           / std::chrono::duration<double>(2 * one_way);
  }
};

TEST_F(FirstBlock, IsUnderWayWhenThreeQuestionsAreAnsweredAndAStreamIsOpened) {
  // The connection to the dispatcher, the request for the repetition with the dataset, and the
  // connection to the worker take one round trip each. The task starts during the last of these.
  // The message that opens the stream takes half a round trip.
  EXPECT_NEAR(round_trips(sharding_policy::off), 3.5, nearly);
}

TEST_F(FirstBlock, ComesNoLaterWhereSplitsAreLeased) {
  EXPECT_NEAR(round_trips(sharding_policy::dynamic), 3.5, nearly) << "these are, meanwhile";
}

} // namespace
} // namespace headrace::detail::test
