#include "headrace/actors/task/task_core.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "tests/actors/stream/stream_world.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;
using stream_key = produce::stream_key;

/// A task of a shared job with two readers. The first reader was sent six elements, each from a
/// split of its own, and has handed out two of them.
class TaskAccount : public testing::Test {
protected:
  TaskAccount() {
    core.taken_over(now);
    open(ann);
    EXPECT_TRUE(core.runner_begins(1));
    auto rows = numbers(0, 6);
    rows.origins = {{.rows = 6, .split = 20, .step = 1}};
    core.produced(1, std::move(rows), now);
    grant(ann, 0, 6);
    grant(ann, 2, 6);
  }
  void open(consumer_id who) {
    core.arrived(stream_key{who.value},
                 from_consumer{stream_open{.life = incarnation{1}, .consumer = who}}, now);
  }
  produce::commands grant(consumer_id who, uint64_t handed_out, uint64_t elements) {
    return core.arrived(
      stream_key{who.value},
      from_consumer{stream_grant{
        .handed_out = handed_out, .elements = elements, .bytes = 1 << 20, .received = elements}},
      now);
  }
  static task_readers readers(uint64_t version, std::vector<consumer_id> who,
                              std::map<consumer_id, uint64_t> departed = {}) {
    return {task_id{7}, version, std::move(who), {}, std::move(departed)};
  }
  static std::vector<splits_wish> accounts(const produce::commands& in) {
    std::vector<splits_wish> out;
    for (const auto& x : in)
      if (const auto* said = std::get_if<produce::report>(&x))
        if (said->what.wants && said->what.wants->wish.given)
          out.push_back(said->what.wants->wish);
    return out;
  }

  static constexpr consumer_id ann{1}, bob{2};
  time_point now{1h};
  task_core core{{.id = task_id{7},
                  .life = incarnation{1},
                  .job = job_id{2},
                  .policy = sharding_policy::dynamic,
                  .shared = true,
                  .readers = readers(1, {ann, bob}),
                  .lease = 5s},
                 make_range(0, 10).value(),
                 {},
                 logger{}};
};

TEST_F(TaskAccount, IsGivenOnceAReaderThatIsGoneHandsOutNothingMore) {
  core.stream_cut(stream_key{ann.value}, now);
  EXPECT_TRUE(accounts(core.readers_named(readers(2, {bob}), now)).empty())
    << "it may hand out more until it has noticed";
  now = core.next_deadline().value();
  std::vector<splits_wish> said;
  for (; said.empty(); now = core.next_deadline().value_or(now + 1s))
    said = accounts(core.timer(now));
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].given->version, 2u);
  EXPECT_EQ(said[0].given->splits.task, task_id{7});
  EXPECT_EQ(said[0].given->splits.reached, (std::vector<split_run>{{0, 0, {20, 6}}}))
    << "it may have handed out all";
  EXPECT_EQ(said[0].given->lost, 4u);
  EXPECT_TRUE(std::ranges::none_of(
    core.splits_answered(said[0].which, lease_answer{}, now),
    [](const auto& x) { return std::holds_alternative<produce::give_splits>(x); }))
    << "the runner asked nothing";
  EXPECT_TRUE(accounts(core.timer(now + 1min)).empty()) << "once is enough";
}

TEST_F(TaskAccount, CountsWhatAReaderSaysAsItIsLetGo) {
  core.readers_named(readers(2, {bob}), now);
  core.arrived(stream_key{ann.value}, from_consumer{stream_grant{.handed_out = 5}}, now);
  const auto said =
    accounts(core.arrived(stream_key{ann.value}, from_consumer{stream_close{}}, now));
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].given->splits.reached, (std::vector<split_run>{{0, 0, {20, 5}}}));
}

TEST_F(TaskAccount, IsNotNeededOfAReaderThatLeftInOrder) {
  EXPECT_TRUE(accounts(core.readers_named(readers(2, {bob}, {{ann, 3}}), now)).empty());
}

TEST_F(TaskAccount, IsGivenAtOnceOfAReaderThatNeverCame) {
  EXPECT_EQ(accounts(core.readers_named(readers(2, {ann}), now)).size(), 1u);
}

} // namespace
} // namespace headrace::detail::test
