#include "headrace/actors/consumer/consumer_memory.hpp"
#include "headrace/actors/protocol/stream_codec.hpp"
#include "tests/actors/stream/kept_link.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <numeric>
#include <stop_token>
#include <thread>
#include <vector>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;

constexpr task_id task{7};
constexpr uint32_t channel = 9;

block numbers_from(int64_t first, size_t rows) {
  std::vector<int64_t> values(rows);
  std::iota(values.begin(), values.end(), first);
  block out;
  out.rows = rows;
  out.columns.push_back(column::of_scalars<int64_t>(values));
  return out;
}

/// The memory of a consumer with one stream. The test takes the place of the actor, of the link's
/// thread and of the trainer's thread.
class ConsumerMemory : public testing::Test {
protected:
  ConsumerMemory() {
    memory.components = {tensor_spec{dtype::int64, shape{}}};
    memory.actor = {
      .now = [this] { return now() + late; },
      .announce = [this] { ++announced; },
      .open_channel = [](const std::shared_ptr<link>&) { return channel; },
      .close_channel = [this](const link*, uint32_t) { ++closed; },
    };
    consumer_options options{.dataset_id = "d", .worker_timeout = 10s};
    options.spec = element_spec{memory.components.front()};
    memory.core.emplace(std::move(options), consumer_id{1}, "dispatcher:1", out, logger{}, now());
    as_actor([&](consumer_core& core) { return core.dispatcher_up(now()); });
    const iteration_view view{.job = job_id{5},
                              .version = 1,
                              .tasks = {{task, incarnation{1}, "worker:1", {}, worker_id{1}}}};
    as_actor([&](consumer_core& core) { return core.answered(1, view, now()); });
    as_actor([&](consumer_core& core) { return core.linked("worker:1", now()); });
    at->sent.clear();
  }

  static time_point now() { return clock::system().now(); }
  template <class Event>
  void as_actor(Event&& event) {
    {
      std::lock_guard hold{memory.mutex};
      memory.handle_inbox();
      memory.carry_out(event(*memory.core), at);
      memory.reminder = memory.core->next_deadline();
    }
    try_handle_inbox(memory);
  }
  /// The actor handles `stream_work_left`. Returns the commands that were left to it.
  consume::commands as_announced_actor() {
    consume::commands todo;
    {
      std::lock_guard hold{memory.mutex};
      memory.announced = false;
      todo = std::exchange(memory.unfinished, {});
    }
    while (auto next = memory.inbox.packed()) {
      memory.inbox.decoded(read_from_task(*next, memory.components));
      as_actor([](consumer_core&) { return consume::commands{}; });
    }
    return todo;
  }
  void as_link(link_message what) { take_message(memory, *at, std::move(what)); }
  void block_arrives(int64_t first, size_t rows, bool packed = false) {
    as_link(write_block(
      channel, {.first = static_cast<uint64_t>(first), .rows = numbers_from(first, rows)}, packed));
  }
  void arrives(const from_task& what) { as_link(write_message(channel, what)); }
  /// The trainer takes all elements that it can be handed; they must continue those before.
  void take_all() {
    std::shared_ptr<const block> some;
    while (out->try_next(some, how) == handout::outcome::rows) {
      const auto [first, last] = out->claim_up_to(some->rows);
      for (auto row = first; row < last; ++row)
        ASSERT_EQ(some->columns[0].values<int64_t>()[row], taken++);
    }
  }
  /// The grants that were sent.
  std::vector<stream_grant> grants() const {
    std::vector<stream_grant> found;
    for (const auto& x : at->sent) {
      EXPECT_EQ(x.channel, channel);
      const auto said = read_from_consumer(x);
      if (const auto* grant = said ? std::get_if<stream_grant>(&*said) : nullptr)
        found.push_back(*grant);
    }
    return found;
  }

  std::shared_ptr<test::kept_link> at = std::make_shared<test::kept_link>();
  consumer_memory memory;
  std::shared_ptr<handout> out = std::make_shared<handout>([this] { take_trainer_moved(memory); });
  duration late{0}; ///< by which the clock of other threads is ahead
  std::atomic<int> announced{0};
  int closed = 0;
  int64_t taken = 0; ///< the number of elements that `take_all` took
  status how;
};

TEST_F(ConsumerMemory, BlocksAreHandedOutAndAnsweredWithoutTheActor) {
  uint64_t before = 0;
  for (int64_t i = 0; i < 50; ++i) {
    block_arrives(i * 100'000, 100'000);
    take_all();
  }
  EXPECT_EQ(taken, 5'000'000);
  ASSERT_FALSE(grants().empty());
  for (const auto& x : grants()) {
    EXPECT_GE(x.handed_out, before) << "grants leave in their order";
    before = x.handed_out;
  }
  EXPECT_GT(before, 4'000'000u);
  EXPECT_EQ(announced, 0);
}

TEST_F(ConsumerMemory, CompressedBlocksAreLeftToTheActorAndKeepTheirOrder) {
  block_arrives(0, 1'000);
  block_arrives(1'000, 1'000, true);
  block_arrives(2'000, 1'000);
  block_arrives(3'000, 1'000, true);
  take_all();
  EXPECT_EQ(taken, 1'000);
  EXPECT_EQ(announced, 1);
  as_announced_actor();
  take_all();
  EXPECT_EQ(taken, 4'000);
  block_arrives(4'000, 1'000, true);
  EXPECT_EQ(announced, 2);
  as_announced_actor();
  block_arrives(5'000, 1'000);
  take_all();
  EXPECT_EQ(taken, 6'000);
}

TEST_F(ConsumerMemory, WhoHasLockedItHandlesTheEventsOfOthers) {
  {
    std::lock_guard hold{memory.mutex};
    std::thread{[&] { block_arrives(0, 10); }}.join(); // does not wait
    take_all();
    EXPECT_EQ(taken, 0);
  }
  try_handle_inbox(memory);
  take_all();
  EXPECT_EQ(taken, 10);
}

TEST_F(ConsumerMemory, TheActorIsCalledOnceForCommandsThatOnlyItCarriesOut) {
  block_arrives(0, 10);
  arrives(stream_end{.elements = 10, .outcome = task_outcome::exhausted});
  // The job waits for the report that the rows of the task were handed out.
  as_actor([&](consumer_core& core) {
    return core.told({.job = job_id{5}, .version = 2, .held = {task}}, now());
  });
  EXPECT_EQ(announced, 0);
  take_all();
  EXPECT_EQ(announced, 1);
  const auto todo = as_announced_actor();
  ASSERT_FALSE(todo.empty());
  EXPECT_TRUE(std::holds_alternative<consume::beat>(todo[0]));
}

TEST_F(ConsumerMemory, TheActorIsCalledForAnEarlierDeadline) {
  memory.reminder = now() + 1h;
  block_arrives(0, 10);
  EXPECT_EQ(announced, 1);
  as_announced_actor();
  memory.reminder = now();
  block_arrives(10, 10);
  EXPECT_EQ(announced, 1);
}

TEST_F(ConsumerMemory, AnErrorIsKeptForTheActorAndNoMoreIsHandled) {
  at->fails = true;
  arrives(stream_recall{.id = 1, .keep = 0});
  EXPECT_TRUE(memory.thrown);
  EXPECT_EQ(announced, 1);
  at->fails = false;
  block_arrives(0, 10);
  take_all();
  EXPECT_EQ(taken, 0);
}

TEST_F(ConsumerMemory, TheTrainerGetsAnErrorIfTheActorEndsBeforeIt) {
  block_arrives(0, 10);
  std::shared_ptr<const block> some;
  ASSERT_EQ(out->try_next(some, how), handout::outcome::rows);
  ASSERT_EQ(out->claim_up_to(4), (std::pair<size_t, size_t>{0, 4}));
  {
    std::lock_guard hold{memory.mutex};
    memory.end();
  }
  EXPECT_EQ(closed, 1);
  ASSERT_FALSE(grants().empty());
  EXPECT_EQ(grants().back().handed_out, 4u) << "the other rows are for other consumers";
  block_arrives(10, 10);
  EXPECT_EQ(out->claim(), -1);
  EXPECT_EQ(out->try_next(some, how), handout::outcome::over);
  EXPECT_EQ(how.code(), status_code::cancelled) << how.message();
}

TEST_F(ConsumerMemory, NothingIsLostBetweenTheThreadsOfLinkTrainerAndActor) {
  constexpr int64_t blocks = 3'000, rows = 20;
  std::thread link{[&] {
    for (int64_t i = 0; i < blocks; ++i) block_arrives(i * rows, rows, i % 5 == 0);
  }};
  std::thread trainer{[&] {
    std::shared_ptr<const block> some;
    while (taken < blocks * rows && out->next_within(1h, {}, some, how) == handout::outcome::rows) {
      const auto [first, last] = out->claim_up_to(some->rows);
      for (auto row = first; row < last; ++row)
        ASSERT_EQ(some->columns[0].values<int64_t>()[row], taken++);
    }
  }};
  std::jthread actor{[&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      as_announced_actor();
      as_actor([&](consumer_core& core) { return core.timer(now()); });
    }
  }};
  link.join();
  trainer.join();
  EXPECT_EQ(taken, blocks * rows);
  uint64_t before = 0;
  std::lock_guard hold{memory.mutex};
  for (const auto& x : grants()) {
    EXPECT_GE(x.handed_out, before) << "grants leave in their order";
    before = x.handed_out;
  }
}

} // namespace
} // namespace headrace::detail
