#include "headrace/actors/consumer/consumer_memory.hpp"
#include "headrace/actors/protocol/codec/stream_codec.hpp"
#include "tests/actors/stream/kept_link.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <semaphore>
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

/// The `consumer_memory` of a consumer with one stream. The test takes the place of the three that
/// share it: the actor, the link's thread and the trainer's thread.
class ConsumerMemory : public testing::Test {
protected:
  ConsumerMemory() {
    memory.components = {tensor_spec{dtype::int64, shape{}}};
    memory.actor = {
      .now = &ConsumerMemory::now,
      .announce =
        [this] {
          ++announced;
          calls.release();
        },
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
    first_grant = grants().at(0);
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
  /// Acts as the actor when a `stream_work_left` arrives. Returns the commands that other threads
  /// left to the actor.
  consume::commands as_announced_actor() {
    consume::commands todo;
    {
      std::lock_guard hold{memory.mutex};
      memory.announced = false;
      todo = std::exchange(memory.unfinished, {});
    }
    if (auto next = memory.inbox.packed())
      memory.inbox.decoded(decode_message(memory, *next));
    as_actor([](consumer_core&) { return consume::commands{}; });
    return todo;
  }
  void as_link(link_message what) { take_message(memory, *at, std::move(what)); }
  void block_arrives(int64_t first, size_t rows, bool packed = false) {
    as_link(write_block(
      channel, {.first = static_cast<uint64_t>(first), .rows = numbers_from(first, rows)}, packed));
  }
  void arrives(const from_task& what) { as_link(write_message(channel, what)); }
  /// The trainer takes all elements that it can be handed. Their numbers must follow those that it
  /// took before.
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
  stream_grant first_grant;
  consumer_memory memory;
  std::shared_ptr<handout> out = std::make_shared<handout>([this] { take_trainer_moved(memory); });
  std::atomic<int> announced{0};
  std::counting_semaphore<> calls{0}; ///< released by each call of `announce`
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

TEST_F(ConsumerMemory, EventsThatFollowEachOtherFastAreGatheredForTheActorWhereThatIsSet) {
  const auto time = std::make_shared<time_point>(now());
  memory.actor.now = [time] { return *time; };
  memory.gathers_events = true;
  memory.handled_at = *time;
  for (int64_t i = 0; i < 50; ++i) block_arrives(i, 1);
  take_all();
  EXPECT_EQ(taken, 0);
  EXPECT_EQ(announced, 1);
  as_announced_actor();
  take_all();
  EXPECT_EQ(taken, 50);
  take_trainer_moved(memory);
  take_trainer_moved(memory);
  EXPECT_EQ(announced, 2) << "one event of the actor for both";
  as_announced_actor();
  *time += consumer_memory::gathering_pause;
  block_arrives(50, 1);
  take_all();
  EXPECT_EQ(taken, 51) << "after a pause, events are handled at once";
}

TEST_F(ConsumerMemory, SmallBlocksAreReportedByTheActorAndLargeOnesByTheTrainer) {
  block_arrives(0, 100);
  block_arrives(100, 100);
  block_arrives(200, 100'000);
  const auto take_block = [&] {
    bool waiting = false;
    static_cast<void>(out->look(waiting)); // each block is to be reported
    std::shared_ptr<const block> some;
    EXPECT_EQ(out->try_next(some, how), handout::outcome::rows);
    out->claim_up_to(some->rows);
  };
  take_block();
  EXPECT_EQ(announced, 1);
  EXPECT_TRUE(memory.inbox.has_work());
  as_announced_actor();
  EXPECT_FALSE(memory.inbox.has_work());
  take_block();
  EXPECT_EQ(announced, 2);
  as_announced_actor();
  take_block();
  EXPECT_EQ(announced, 2);
  EXPECT_FALSE(memory.inbox.has_work());
}

TEST_F(ConsumerMemory, ATrainerThatBeginsToWaitReportsSmallBlocksItself) {
  block_arrives(0, 100);
  bool waiting = false;
  static_cast<void>(out->look(waiting)); // each block is to be reported
  take_all();
  EXPECT_EQ(taken, 100);
  EXPECT_EQ(announced, 1) << "for the block, before the trainer waited";
  EXPECT_FALSE(memory.inbox.has_work());
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
  EXPECT_EQ(taken, 3'000) << "the actor decodes one message at a time";
  EXPECT_EQ(announced, 2);
  as_announced_actor();
  take_all();
  EXPECT_EQ(taken, 4'000);
  block_arrives(4'000, 1'000, true);
  EXPECT_EQ(announced, 3);
  as_announced_actor();
  block_arrives(5'000, 1'000);
  take_all();
  EXPECT_EQ(taken, 6'000);
}

TEST_F(ConsumerMemory, ALinkThatIsClosedCutsItsStreamAfterItsLastMessage) {
  block_arrives(0, 1'000);
  block_arrives(1'000, 1'000, true);
  take_cut(memory, *at, channel, unavailable("the peer closed the link"));
  block_arrives(2'000, 1'000); // this block is dropped, because its stream was cut
  EXPECT_EQ(memory.routes.size(), 1u);
  as_announced_actor();
  EXPECT_TRUE(memory.routes.empty());
  take_all();
  EXPECT_EQ(taken, 2'000);
}

TEST_F(ConsumerMemory, AStreamOnALinkThatWasClosedIsCut) {
  take_cut(memory, *at, channel, unavailable("the peer closed the link"));
  memory.actor.open_channel = [](const std::shared_ptr<link>&) { return 0u; };
  as_actor([&](consumer_core& core) { return core.linked("worker:1", now()); });
  EXPECT_TRUE(memory.routes.empty());
  EXPECT_TRUE(memory.core->is_live(task)) << "it is opened again";
}

TEST_F(ConsumerMemory, NobodyWaitsForItAndWhoHasLockedItHandlesTheEventsOfOthers) {
  block_arrives(0, 4'000'000);
  int64_t first = 4'000'000;
  at->on_send = [&](const link_message&) { // called while `memory.mutex` is locked
    if (const auto now = std::exchange(first, 0); now != 0)
      std::thread{[&] { block_arrives(now, 10); }}.join();
  };
  std::shared_ptr<const block> some;
  ASSERT_EQ(out->try_next(some, how), handout::outcome::rows);
  ASSERT_EQ(out->claim_up_to(some->rows).second, 4'000'000u);
  static_cast<void>(out->try_next(some, how)); // the block is used up, so a grant is sent
  EXPECT_EQ(first, 0);
  ASSERT_EQ(out->try_next(some, how), handout::outcome::rows) << "nobody handled the last block";
  EXPECT_EQ(some->rows, 10u);
}

TEST_F(ConsumerMemory, AThreadLeavesEventsThatComeAllTheTimeToTheActor) {
  // Each answer to a recall is followed by the next recall.
  uint64_t recalls = 0;
  at->on_send = [&](const link_message&) {
    if (++recalls < 100'000)
      memory.inbox.push({.from = at.get(),
                         .channel = channel,
                         .what = result<from_task>{stream_recall{.id = recalls, .keep = 0}},
                         .packed = {}});
  };
  arrives(stream_recall{.id = 0, .keep = 0});
  EXPECT_EQ(announced, 1);
  const auto before = recalls;
  EXPECT_LT(before, 1'000u);
  as_announced_actor();
  EXPECT_GT(recalls, before);
  EXPECT_LT(recalls, 2'000u);
  EXPECT_EQ(announced, 2);
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
  block_arrives(0, 10);
  take_all();
  EXPECT_EQ(taken, 0);
  {
    std::lock_guard hold{memory.mutex};
    memory.end(); // `send` of the link still throws
  }
  take_all();
  EXPECT_EQ(how.code(), status_code::internal) << how.message();
}

TEST_F(ConsumerMemory, ADamagedMessageIsAnErrorOfTheStream) {
  auto damaged = write_block(channel, {.first = 0, .rows = numbers_from(0, 10'000)}, false);
  damaged.payload.clear();
  as_link(std::move(damaged));
  take_all();
  EXPECT_EQ(how.code(), status_code::data_loss) << how.message();
}

TEST_F(ConsumerMemory, TheTrainerTakesTheRestIfTheActorEndsAfterTheRepetition) {
  block_arrives(0, 10);
  arrives(stream_end{.elements = 10, .outcome = task_outcome::exhausted});
  as_actor([&](consumer_core& core) {
    return core.told({.job = job_id{5}, .version = 2, .finished = true}, now());
  });
  {
    std::lock_guard hold{memory.mutex};
    memory.end();
  }
  take_all();
  EXPECT_EQ(taken, 10);
  EXPECT_TRUE(how.ok()) << how.message();
}

TEST_F(ConsumerMemory, WhatTheTrainerTakesBeforeThereIsAnActorIsNotLost) {
  consumer_memory fresh;
  take_trainer_moved(fresh);
  EXPECT_TRUE(fresh.inbox.has_work());
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
  constexpr int64_t blocks = 3'000, rows = 2'000;
  // The task sends no more than it was granted. The actor does nothing until it is called.
  std::mutex mutex;
  std::condition_variable changed;
  auto newest = first_grant;
  at->on_send = [&](const link_message& what) {
    const auto said = read_from_consumer(what);
    std::lock_guard lock{mutex};
    if (const auto* grant = said ? std::get_if<stream_grant>(&*said) : nullptr) {
      EXPECT_GE(grant->handed_out, newest.handed_out) << "grants leave in their order";
      newest = *grant;
    }
    changed.notify_all();
  };
  std::thread link{[&] {
    for (int64_t i = 0; i < blocks; ++i) {
      const auto last = static_cast<uint64_t>((i + 1) * rows);
      {
        std::unique_lock lock{mutex};
        ASSERT_TRUE(changed.wait_for(lock, 30s,
                                     [&] {
                                       return last * sizeof(int64_t)
                                              <= newest.handed_out * sizeof(int64_t) + newest.bytes;
                                     }))
          << "block " << i;
      }
      block_arrives(i * rows, rows, i % 5 == 0);
    }
  }};
  std::thread trainer{[&] {
    std::shared_ptr<const block> some;
    while (taken < blocks * rows
           && out->next_within(30s, {}, some, how) == handout::outcome::rows) {
      const auto [first, last] = out->claim_up_to(some->rows);
      for (auto row = first; row < last; ++row)
        ASSERT_EQ(some->columns[0].values<int64_t>()[row], taken++);
    }
  }};
  std::atomic<bool> over{false};
  std::thread actor{[&] {
    for (calls.acquire(); !over; calls.acquire()) as_announced_actor();
  }};
  link.join();
  trainer.join();
  over = true;
  calls.release();
  actor.join();
  EXPECT_EQ(taken, blocks * rows);
}

} // namespace
} // namespace headrace::detail
