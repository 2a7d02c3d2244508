#include "headrace/actors/task/task_core.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "tests/actors/stream/stream_world.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace headrace::detail::test {
namespace {

using stream_key = produce::stream_key;

/// A task with one reader: consumer 1, whose node is 11.
class TaskReaders : public testing::Test {
protected:
  produce::commands open(uint64_t stream, uint64_t consumer, uint64_t node) {
    return core.arrived(stream_key{stream},
                        from_consumer{stream_open{.task = task_id{7},
                                                  .life = incarnation{1},
                                                  .consumer = consumer_id{consumer},
                                                  .node = node}},
                        now);
  }
  /// The errors with which the streams were refused.
  static std::vector<status> refusals(const produce::commands& from) {
    std::vector<status> out;
    for (const auto& x : from)
      if (const auto* said = std::get_if<produce::send>(&x))
        if (const auto* failed = std::get_if<stream_failed>(&said->what))
          out.push_back(failed->why);
    return out;
  }
  static task_readers readers(uint64_t version, std::vector<uint64_t> consumers,
                              std::map<consumer_id, uint64_t> nodes) {
    task_readers out{task_id{7}, version, {}, std::move(nodes)};
    for (auto id : consumers) out.consumers.emplace_back(id);
    return out;
  }

  time_point now{std::chrono::hours{1}};
  task_core core{task_order{.id = task_id{7},
                            .life = incarnation{1},
                            .job = job_id{2},
                            .shared = true,
                            .readers = readers(1, {1}, {{consumer_id{1}, 11}})},
                 make_range(0, 10, 1).value(),
                 {},
                 logger{}};
};

TEST_F(TaskReaders, OpenTheirStreamsFromTheNodeThatTheJobNames) {
  EXPECT_TRUE(refusals(open(1, 1, 11)).empty());
  EXPECT_EQ(core.numbers().streams, 1u);
  const auto refused = refusals(open(2, 1, 12));
  ASSERT_EQ(refused.size(), 1u) << "another node took the stream over";
  EXPECT_EQ(refused[0].code(), status_code::permission_denied);
  // The first stream stays, and rows are sent on it.
  core.arrived(stream_key{1}, from_consumer{stream_grant{.elements = 5, .bytes = 1 << 20}}, now);
  ASSERT_TRUE(core.runner_begins(1));
  const auto out = core.produced(1, numbers(0, 3), now);
  std::vector<stream_key> to;
  for (const auto& x : out)
    if (const auto* said = std::get_if<produce::send>(&x))
      to.push_back(said->over);
  EXPECT_EQ(to, std::vector{stream_key{1}});
  EXPECT_TRUE(refusals(open(3, 1, 11)).empty()) << "its own node may open it again";
}

TEST_F(TaskReaders, AreLookedAtWhenTheJobNamesThemAfterTheyCame) {
  EXPECT_TRUE(refusals(open(1, 2, 99)).empty()) << "it may be named soon";
  const auto out = core.readers_named(readers(2, {1, 2}, {{consumer_id{2}, 12}}), now);
  EXPECT_EQ(refusals(out).size(), 1u);
  EXPECT_EQ(core.numbers().streams, 0u);
}

TEST_F(TaskReaders, GetWhatATaskHasBegunWhenTheyComeAfterItWasToldToLeave) {
  const auto has = [](const produce::commands& in, auto what) {
    return std::ranges::any_of(in, [&](const auto& x) { return what(x); });
  };
  const auto ends = [](const auto& x) { return std::holds_alternative<produce::end>(x); };
  const auto gives = [](const auto& x) {
    const auto* said = std::get_if<produce::send>(&x);
    return said != nullptr && std::holds_alternative<stream_block>(said->what);
  };
  open(1, 1, 11);
  ASSERT_TRUE(core.runner_begins(1));
  core.produced(1, numbers(0, 3), now);
  core.arrived(stream_key{1}, from_consumer{stream_close{}}, now);
  core.readers_named(readers(2, {}, {}), now);
  core.run_ended(1, {}, false, now);
  EXPECT_FALSE(has(core.worker_leaves(now), ends)) << "its rows would be lost in silence";
  core.readers_named(readers(3, {2}, {}), now);
  open(2, 2, 12);
  const auto out =
    core.arrived(stream_key{2}, from_consumer{stream_grant{.elements = 9, .bytes = 99}}, now);
  EXPECT_TRUE(has(out, gives));
  EXPECT_TRUE(
    has(core.arrived(stream_key{2},
                     from_consumer{stream_grant{.elements = 9, .bytes = 99, .received = 3}}, now),
        ends));
}

TEST_F(TaskReaders, ThatTheJobDoesNotNameInTimeMayComeAgain) {
  EXPECT_TRUE(refusals(open(1, 2, 12)).empty());
  const auto at = core.next_deadline();
  ASSERT_TRUE(at);
  const auto refused = refusals(core.timer(*at));
  ASSERT_EQ(refused.size(), 1u);
  // After this error the consumer tries again: the message in which the job names the consumer as a
  // reader may still be on the way to this worker.
  EXPECT_EQ(refused[0].code(), status_code::not_found);
}

TEST_F(TaskReaders, AreGivenUpEachTimeThatTheJobNoLongerNamesThem) {
  open(1, 1, 11);
  EXPECT_EQ(refusals(core.readers_named(readers(2, {}, {}), now)).size(), 1u);
  EXPECT_TRUE(refusals(core.readers_named(readers(3, {1}, {}), now)).empty());
  now += core.order().lease * 2;
  const auto out = core.readers_named(readers(4, {}, {}), now);
  EXPECT_EQ(refusals(out).size(), 1u);
  EXPECT_TRUE(std::ranges::none_of(
    out, [](const auto& x) { return std::holds_alternative<produce::close_link>(x); }))
    << "the reader has a lease's time to report how far it is";
}

TEST_F(TaskReaders, OfAnUnknownNodeOpenThemFromAnywhere) {
  core.readers_named(readers(2, {2}, {}), now);
  EXPECT_TRUE(refusals(open(1, 2, 99)).empty());
  EXPECT_EQ(core.numbers().streams, 1u);
}

} // namespace
} // namespace headrace::detail::test
