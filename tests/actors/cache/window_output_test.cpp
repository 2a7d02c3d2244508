#include "tests/actors/cache/window_judge.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using namespace test;
using step = stream_world::step;

TEST(WindowOutput, GivesEachTrainerAllElements) {
  stream_world w{{.tasks = 1, .cache = cache_terms{}, .cache_bytes = 100'000}};
  const auto a = w.come("a"), b = w.come("b");
  w.settle();
  for (int i = 0; i < 10; ++i) w.produce(0, 7);
  for (auto id : {a, b})
    for (int64_t i = 0; i < 70; ++i) ASSERT_EQ(w.next(id), step::element);
  for (auto id : {a, b}) {
    const auto& got = w.consumers.at(id).pipes.at(0).handed_out;
    EXPECT_EQ(got.front(), 0);
    EXPECT_EQ(got.back(), 69);
  }
  EXPECT_EQ(rising_fault(w), "");
}

TEST(WindowOutput, GivesIteratorsOfOneTrainerDifferentElements) {
  stream_world w{{.tasks = 1, .stream_bytes = 400, .cache = cache_terms{}, .cache_bytes = 100'000}};
  const auto a = w.come("a"), b = w.come("a");
  w.settle();
  for (int i = 0; i < 20; ++i) w.produce(0, 10);
  for (int i = 0; i < 100; ++i)
    for (auto id : {a, b}) ASSERT_EQ(w.next(id), step::element);
  const auto all = w.all_handed_out();
  EXPECT_EQ(all.size(), 200u);
  EXPECT_TRUE(std::ranges::all_of(all, [](const auto& x) { return x.second == 1; }));
}

TEST(WindowOutput, GivesWhatATrainerLeftToItsNextIterator) {
  stream_world w{{.tasks = 1, .cache = cache_terms{}, .cache_bytes = 100'000}};
  const auto a = w.come("a");
  w.settle();
  w.produce(0, 20);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(w.next(a), step::element);
  w.go(a);
  w.settle();
  const auto b = w.come("a");
  for (int i = 5; i < 20; ++i) ASSERT_EQ(w.next(b), step::element);
  EXPECT_EQ(w.consumers.at(b).pipes.at(0).handed_out.front(), 5);
  EXPECT_EQ(count_fault(w) + rising_fault(w), "");
}

TEST(WindowOutput, ProducesForTheForemostAlone) {
  stream_world w{{.tasks = 1, .stream_bytes = 100, .cache = cache_terms{}, .cache_bytes = 100'000}};
  const auto a = w.come("a");
  (void)w.come("b");
  w.settle();
  for (int i = 0; i < 4; ++i) w.produce(0, 10);
  w.settle();
  EXPECT_GT(w.tasks[0].outstanding, 0u) << "nobody has room for more";
  for (int i = 0; i < 40; ++i) ASSERT_EQ(w.next(a), step::element);
  w.settle();
  EXPECT_EQ(w.tasks[0].outstanding, 0u);
}

/// All consumers take elements until none of them is given any more.
void read_in_turn(stream_world& w, const std::vector<uint64_t>& ids) {
  for (int quiet = 0; quiet < 10;) {
    bool moved = w.settle() != 0;
    for (auto id : ids) {
      moved |= w.take(id) == step::element;
      w.look(id);
    }
    if (!moved)
      w.pass(100ms);
    quiet = moved ? 0 : quiet + 1;
  }
}

/// A task with a finite dataset, in a job with a cross-trainer cache and two expected trainers.
class WholeEpoch : public testing::Test {
protected:
  void make(int blocks) {
    for (int i = 0; i < blocks; ++i) w.produce(0, 10);
    w.exhaust(0);
  }
  stream_world w{{.tasks = 1, .cache = cache_terms{60s, 2}, .cache_bytes = 100'000}};
};

TEST_F(WholeEpoch, BeginsWhenAllTrainersHaveCome) {
  const auto a = w.come("a");
  w.settle();
  w.produce(0, 10);
  w.settle();
  EXPECT_EQ(w.take(a), step::waits);
  const auto b = w.come("b");
  w.settle();
  EXPECT_EQ(w.next(a), step::element);
  EXPECT_EQ(w.next(b), step::element);
}

TEST_F(WholeEpoch, GivesEachTrainerAllElementsOnceAndThenTheEnd) {
  const auto a = w.come("a"), b = w.come("b");
  w.settle();
  make(30);
  read_in_turn(w, {a, b});
  for (auto id : {a, b}) {
    EXPECT_EQ(w.consumers.at(id).taken, 300u);
    EXPECT_TRUE(w.consumers.at(id).at_end && w.consumers.at(id).how.ok());
  }
  EXPECT_EQ(rising_fault(w), "");
}

TEST_F(WholeEpoch, RefusesATrainerThatIsNotExpected) {
  const auto a = w.come("a");
  (void)w.come("b");
  w.settle();
  const auto c = w.come("c");
  EXPECT_EQ(w.next(c), step::over);
  EXPECT_THAT(w.consumers.at(c).how.message(), testing::HasSubstr("expected_trainers"));
  make(1);
  EXPECT_EQ(w.next(a), step::element);
}

TEST_F(WholeEpoch, SharesTheElementsOfATrainerAmongItsIterators) {
  const auto a = w.come("a"), b = w.come("b"), b2 = w.come("b");
  w.settle();
  make(30);
  read_in_turn(w, {a, b, b2});
  EXPECT_EQ(w.consumers.at(a).taken, 300u);
  EXPECT_EQ(w.consumers.at(b).taken + w.consumers.at(b2).taken, 300u);
  for (const auto& [x, n] : w.all_handed_out()) EXPECT_EQ(n, 2u) << x;
}

TEST_F(WholeEpoch, GivesNoElementAgainThatAnIteratorThatDiedMayHaveHandedOut) {
  const auto a = w.come("a"), died = w.come("b");
  w.settle();
  make(30);
  w.settle();
  // The consumer hands out twelve elements, and dies before it reports them to the task.
  for (int i = 0; i < 12; ++i) ASSERT_EQ(w.take(died), step::element);
  auto got = w.consumers.at(died).pipes.at(0).handed_out;
  ASSERT_EQ(got.size(), 12u);
  w.die(died);
  const auto again = w.come("b");
  read_in_turn(w, {a, again});
  const auto& rest = w.consumers.at(again).pipes.at(0).handed_out;
  got.insert(got.end(), rest.begin(), rest.end());
  std::ranges::sort(got);
  EXPECT_EQ(std::ranges::adjacent_find(got), got.end()) << "an element came twice";
  EXPECT_EQ(w.consumers.at(a).taken, 300u);
  EXPECT_GT(rest.size(), 200u) << "what it had not claimed is given to the next iterator";
  EXPECT_EQ(w.tasks[0].lost_with_readers, 300 - rest.size()) << "and the rest is counted";
}

TEST_F(WholeEpoch, HoldsTheCacheForTheSlowerTrainer) {
  stream_world small{
    {.tasks = 1, .stream_bytes = 400, .cache = cache_terms{60s, 2}, .cache_bytes = 3000}};
  const auto a = small.come("a"), b = small.come("b");
  small.settle();
  for (int i = 0; i < 30; ++i) small.produce(0, 10);
  small.exhaust(0);
  size_t n = 0;
  while (small.take(a) == step::element || small.settle() != 0) {
    small.look(a);
    n = small.consumers.at(a).taken;
  }
  EXPECT_LT(n, 300u) << "it waits";
  read_in_turn(small, {a, b});
  EXPECT_EQ(small.consumers.at(a).taken, 300u);
  EXPECT_EQ(small.consumers.at(b).taken, 300u);
}

TEST(WindowOutput, WaitsNoLongerThanItsLeaseForAnIteratorThatDied) {
  stream_world w{{.tasks = 1,
                  .stream_bytes = 400,
                  .cache = cache_terms{std::chrono::hours{1}, 0},
                  .cache_bytes = 3000}};
  const auto died = w.come("a"), other = w.come("b");
  w.settle();
  for (int i = 0; i < 30; ++i) w.produce(0, 10);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(w.next(died), step::element);
  w.die(died);
  const auto again = w.come("a");
  read_in_turn(w, {again, other});
  EXPECT_LT(w.consumers.at(other).taken, 300u) << "it may come back";
  w.pass(6s);
  read_in_turn(w, {again, other});
  EXPECT_EQ(w.consumers.at(other).taken, 300u);
  EXPECT_EQ(rising_fault(w), "");
}

TEST(WindowOutput, HasEachBlockEncodedOnceHoweverManyTrainersReadIt) {
  for (uint64_t k : {1, 8}) {
    window_output out{window_store::make(1 << 20), {}};
    for (uint64_t i = 1; i <= k; ++i) {
      const consumer_id who{i};
      ASSERT_TRUE(out.opened(who, {.consumer = who, .trainer = std::to_string(i)}));
      out.grant(who, 0, 1 << 20, 1 << 20, true);
    }
    uint64_t sent = 0;
    for (int i = 0; i < 5; ++i) {
      out.produced(numbers(100 * i, 100));
      for (const auto& x : out.deal_at({}, false))
        if (const auto* rows = std::get_if<dealer::send_block>(&x)) {
          ++sent;
          for (auto encoding : {block_encoding::plain, block_encoding::snappy})
            EXPECT_NE(rows->forms->written(rows->rows, encoding), nullptr);
        }
    }
    EXPECT_EQ(sent, 5 * k);
    EXPECT_EQ(out.report()->blocks, 5u);
    EXPECT_EQ(out.report()->encoded, 10u);
  }
}

TEST(WindowOutput, KeepsNoRowsOfTrainersThatLeftAndRemembersOnlySoMany) {
  window_output out{window_store::make(1 << 16), {}};
  time_point now{1h};
  for (uint64_t i = 1; i <= cache_window::most_away + 200; ++i) {
    const consumer_id who{i};
    ASSERT_TRUE(out.opened(
      who, {.consumer = who, .trainer = std::to_string(i), .start = cache_start::newest}));
    out.grant(who, 0, 100, 1 << 20, true);
    out.produced(numbers(static_cast<int64_t>(10 * i), 10));
    ASSERT_EQ(out.deal_at(now += 1ms, false).size(), 1u);
    out.leave(who);
    (void)out.deal_at(now += 1ms, false);
  }
  const auto trainers = out.report()->trainers;
  EXPECT_EQ(trainers.size(), cache_window::most_away);
  for (const auto& x : trainers)
    ASSERT_EQ(x.lag + x.skipped, 10 * (cache_window::most_away + 201 - std::stoull(x.id)))
      << "of trainer " << x.id;
}

TEST(WindowOutput, GivesATrainerThatLeftAndComesBackTheNextElementsThatTheWindowHas) {
  stream_world w{{.tasks = 1, .cache = cache_terms{}, .cache_bytes = 3000}};
  const auto a = w.come("a");
  w.settle();
  for (int i = 0; i < 3; ++i) w.produce(0, 10);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(w.next(a), step::element);
  w.go(a);
  w.settle();
  const auto other = w.come("b");
  for (int i = 0; i < 20; ++i) {
    w.produce(0, 10);
    read_in_turn(w, {other});
  }
  const auto again = w.come("a");
  read_in_turn(w, {other, again});
  const auto& got = w.consumers.at(again).pipes.at(0).handed_out;
  EXPECT_GT(got.size(), 5u);
  EXPECT_LT(got.size(), 225u);
  EXPECT_EQ(got.front(), 230 - static_cast<int64_t>(got.size()));
  EXPECT_EQ(count_fault(w) + rising_fault(w), "");
}

// -- errors -------------------------------------------------------------------------------------

class ErrorsOfAWindow : public testing::Test {
protected:
  static constexpr consumer_id a{1}, b{2};
  void open(consumer_id who, const char* trainer) {
    ASSERT_TRUE(out.opened(who, {.consumer = who, .trainer = trainer}));
    out.grant(who, 0, 1 << 20, 1 << 20, true);
  }
  /// The values that each consumer is sent, with -1 for an error.
  std::map<consumer_id, std::vector<int64_t>> deal() {
    std::map<consumer_id, std::vector<int64_t>> sent;
    for (const auto& x : out.deal_at({}, false))
      if (const auto* rows = std::get_if<dealer::send_block>(&x))
        for (size_t i = 0; i < rows->rows.rows; ++i) {
          const auto* why = rows->rows.error_at(i);
          if (why != nullptr)
            said = why->message();
          sent[rows->to].push_back(why ? -1 : rows->rows.columns[0].values<int64_t>()[i]);
        }
    return sent;
  }
  std::string said;
  window_output out{window_store::make(20'000), {}};
};

TEST_F(ErrorsOfAWindow, GoToTheTrainerThatMetThemAndAreNotKept) {
  open(a, "a");
  auto rows = numbers(0, 5);
  rows.errors.push_back({2, aborted("bad")});
  out.produced(rows);
  EXPECT_THAT(deal()[a], testing::ElementsAre(0, 1, -1, 3, 4));
  EXPECT_EQ(said, "bad");
  open(b, "b");
  EXPECT_THAT(deal()[b], testing::ElementsAre(0, 1, 3, 4));
  out.produced(numbers(5, 1));
  EXPECT_EQ(deal().size(), 2u) << "they do not end the cache";
}

TEST_F(ErrorsOfAWindow, CountAsSkippedWhenTheirTrainerLeavesWithoutThem) {
  open(a, "a");
  auto rows = numbers(0, 5);
  rows.errors.push_back({2, aborted("bad")});
  out.produced(rows);
  EXPECT_EQ(deal()[a].size(), 5u);
  out.handed_out(a, 1);
  out.leave(a);
  deal();
  ASSERT_EQ(out.report()->trainers.size(), 1u);
  EXPECT_EQ(out.report()->trainers[0].skipped, 1u);
  EXPECT_EQ(out.report()->trainers[0].lag, 3u);
  open(b, "a");
  EXPECT_THAT(deal()[b], testing::ElementsAre(1, 3, 4));
}

TEST_F(ErrorsOfAWindow, SayThatAnElementIsLargerThanTheCache) {
  open(a, "a");
  block large;
  large.rows = 1;
  large.columns.push_back(column::dense(
    dtype::int64, shape{5000}, 1, buffer::copy_of(std::vector<std::byte>(40'000).data(), 40'000)));
  out.produced(large);
  EXPECT_THAT(deal()[a], testing::ElementsAre(-1));
  EXPECT_THAT(said,
              testing::HasSubstr(
                "40256 bytes is larger than the worker's cross-trainer cache, which has 20000"));
  EXPECT_EQ(out.report()->end, 0u);
}

TEST_F(ErrorsOfAWindow, NameAReaderThatSaysNoTrainer) {
  const auto how = out.opened(a, {.consumer = a});
  EXPECT_THAT(how.message(), testing::HasSubstr("trainer_id"));
}

} // namespace
} // namespace headrace::detail
