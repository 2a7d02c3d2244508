#include "headrace/actors/protocol/codec/stream_codec.hpp"
#include "headrace/actors/task/task_memory.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "tests/actors/stream/kept_link.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;

constexpr uint32_t channel = 9;
constexpr produce::stream_key stream{1};

block numbers_from(int64_t first, size_t rows) {
  mutable_buffer values{rows * sizeof(int64_t)};
  std::iota(values.as<int64_t>().begin(), values.as<int64_t>().end(), first);
  block out;
  out.rows = rows;
  out.columns.push_back(column::dense(dtype::int64, {}, rows, std::move(values).freeze()));
  return out;
}

/// The `task_memory` of a task with one consumer, whose stream is open. The test takes the place of
/// the two that share it: the actor and the runner's thread.
class DealRows : public testing::Test {
protected:
  DealRows() {
    memory.actor = memory.actors = 1;
    memory.now = [this] { return now() + late; };
    memory.announce = [this] { ++announced; };
    static_cast<void>(memory.core.taken_over(now()));
    memory.routes[stream] = {at, channel, {}};
    as_actor(stream_open{.task = task_id{7}, .life = incarnation{1}, .consumer = consumer_id{5}});
    EXPECT_TRUE(memory.core.runner_begins(1));
    at->sent.clear();
  }

  static time_point now() { return clock::system().now(); }
  /// The actor handles a message of the consumer. Returns the number of bytes that the task has
  /// taken over from the runner.
  size_t as_actor(const from_consumer& what) {
    std::lock_guard hold{memory.mutex};
    size_t taken = 0;
    for (const auto& x : memory.deal_waiting(now()))
      if (const auto* bytes = std::get_if<produce::take_over_bytes>(&x))
        taken += bytes->bytes;
    for (const auto& x : memory.send(memory.core.arrived(stream, what, now()), now()))
      if (const auto* bytes = std::get_if<produce::take_over_bytes>(&x))
        taken += bytes->bytes;
    return taken;
  }
  size_t as_runner(block rows, duration took = {}) {
    return deal_rows(memory, 1, 1, std::move(rows), took);
  }
  /// The numbers that were sent, in order.
  std::vector<int64_t> sent() const {
    std::vector<int64_t> out;
    for (const auto& x : at->sent) {
      const auto said = read_from_task(x, {tensor_spec{dtype::int64, shape{}}});
      const auto* rows = said ? std::get_if<stream_block>(&*said) : nullptr;
      if (!rows)
        continue;
      EXPECT_EQ(rows->first, out.size());
      for (auto value : rows->rows.columns[0].values<int64_t>()) out.push_back(value);
    }
    return out;
  }
  static std::vector<int64_t> all(int64_t count) {
    std::vector<int64_t> out(static_cast<size_t>(count));
    std::iota(out.begin(), out.end(), 0);
    return out;
  }

  task_memory memory{task_core{{.id = task_id{7},
                                .life = incarnation{1},
                                .job = job_id{3},
                                .policy = sharding_policy::dynamic,
                                .readers = {.task = task_id{7}, .consumers = {consumer_id{5}}},
                                .lease = 10s},
                               make_range(0, 1'000'000'000, 1).value(),
                               {},
                               logger{}}};
  std::shared_ptr<test::kept_link> at = std::make_shared<test::kept_link>();
  duration late{0}; ///< the time by which the runner's clock is ahead of the actor's
  int announced = 0;
};

TEST_F(DealRows, RowsAreSentAtOnceWhileThereIsCredit) {
  as_actor(stream_grant{.elements = 100, .bytes = 1 << 20});
  EXPECT_EQ(as_runner(numbers_from(0, 60)), 60 * sizeof(int64_t));
  EXPECT_EQ(sent(), all(60));
}

TEST_F(DealRows, RowsWithoutCreditAreSentByTheActorWhenItComes) {
  as_actor(stream_grant{.elements = 10, .bytes = 1 << 20});
  EXPECT_EQ(as_runner(numbers_from(0, 60)), 10 * sizeof(int64_t));
  EXPECT_EQ(as_runner(numbers_from(60, 40)), 0u);
  EXPECT_EQ(sent(), all(10));
  EXPECT_EQ(as_actor(stream_grant{.elements = 100, .bytes = 1 << 20}), 90 * sizeof(int64_t));
  EXPECT_EQ(sent(), all(100));
}

TEST_F(DealRows, CostlyRowsAreLeftToTheActorAndStayInOrder) {
  as_actor(stream_grant{.elements = 100, .bytes = 1 << 20});
  EXPECT_EQ(as_runner(numbers_from(0, 20), 1ms), 0u);
  EXPECT_EQ(as_runner(numbers_from(20, 20), 1ms), 0u);
  EXPECT_TRUE(sent().empty());
  EXPECT_EQ(announced, 1);
  EXPECT_EQ(memory.waiting.size(), 2u);
  EXPECT_EQ(as_runner(numbers_from(40, 20)), 60 * sizeof(int64_t))
    << "a cheap block takes all along";
  EXPECT_EQ(sent(), all(60));
  EXPECT_EQ(as_runner(numbers_from(60, 20), 1ms), 0u);
  {
    std::lock_guard hold{memory.mutex};
    static_cast<void>(memory.deal_waiting(now()));
  }
  EXPECT_EQ(sent(), all(80));
}

TEST_F(DealRows, TheActorIsCalledOnceForWhatIsLeftToIt) {
  as_actor(stream_grant{.elements = 1'000, .bytes = 1 << 20});
  late = 1h;
  for (int64_t i = 0; i < 3; ++i) as_runner(numbers_from(i, 1));
  EXPECT_EQ(announced, 1);
  EXPECT_TRUE(memory.announced);
  ASSERT_EQ(memory.left.size(), 1u) << "the progress is due";
  EXPECT_TRUE(std::holds_alternative<produce::report>(memory.left[0]));
}

TEST_F(DealRows, TheActorIsCalledForAnEarlierDeadline) {
  as_actor(stream_grant{.elements = 1'000, .bytes = 1 << 20});
  as_runner(numbers_from(0, 1));
  memory.left.clear();
  for (const auto& [reminder, calls] : {std::pair{now(), 0}, {now() + 1h, 1}, {now() + 1h, 1}}) {
    announced = 0;
    memory.announced = false;
    memory.reminder = reminder;
    as_runner(numbers_from(0, 1));
    EXPECT_EQ(announced, calls) << "the next report is due in less than a second";
  }
}

TEST_F(DealRows, NothingIsDealtForAnotherActorOrRunner) {
  as_actor(stream_grant{.elements = 100, .bytes = 1 << 20});
  const auto call = [&](uint64_t actor, uint64_t run) {
    return deal_rows(memory, actor, run, numbers_from(0, 5), {});
  };
  EXPECT_EQ(call(2, 1), 0u);
  EXPECT_EQ(call(1, 2), 0u);
  memory.actor = 0;
  EXPECT_EQ(call(1, 1), 0u);
  EXPECT_TRUE(sent().empty());
}

TEST_F(DealRows, AFailureLeavesBeforeTheEndOfTheStream) {
  as_runner(numbers_from(0, 5));
  at->most.message_bytes = 64; // too low for the message of a row
  {
    std::lock_guard hold{memory.mutex};
    for (auto& x : memory.send(memory.core.run_ended(1, {}, false, now()), now()))
      memory.left.push_back(std::move(x));
  }
  as_actor(stream_grant{.elements = 100, .bytes = 1 << 20});
  ASSERT_FALSE(at->sent.empty());
  const auto said = read_from_task(at->sent.front(), {tensor_spec{dtype::int64, shape{}}});
  ASSERT_TRUE(said);
  EXPECT_TRUE(std::holds_alternative<stream_failed>(*said)) << said->index();
}

TEST_F(DealRows, AnErrorIsKeptForTheActorAndNoMoreIsDealt) {
  as_actor(stream_grant{.elements = 100, .bytes = 1 << 20});
  at->fails = true;
  EXPECT_EQ(as_runner(numbers_from(0, 5)), 0u);
  EXPECT_TRUE(memory.thrown);
  EXPECT_EQ(announced, 1);
  at->fails = false;
  EXPECT_EQ(as_runner(numbers_from(5, 5)), 0u);
  EXPECT_TRUE(sent().empty());
}

TEST_F(DealRows, BlocksStayInOrderBesideTheActor) {
  constexpr int64_t blocks = 3'000, rows = 20;
  std::thread runner{[&] {
    for (int64_t i = 0; i < blocks; ++i)
      as_runner(numbers_from(i * rows, rows), i % 3 == 0 ? 1ms : 0ms);
  }};
  // The credit grows in steps, so that both threads have rows to send.
  for (uint64_t credit = 0; credit <= blocks * rows; credit += 7)
    as_actor(stream_grant{.handed_out = credit / 2, .elements = credit, .bytes = 1 << 30});
  runner.join();
  as_actor(stream_grant{.elements = blocks * rows, .bytes = 1 << 30});
  EXPECT_EQ(sent(), all(blocks * rows));
}

} // namespace
} // namespace headrace::detail
