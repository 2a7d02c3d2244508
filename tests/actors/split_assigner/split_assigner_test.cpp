#include "headrace/actors/job/split_assigner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace headrace {
namespace {

constexpr task_id a{1};
constexpr task_id b{2};

split_plan plan_of(std::vector<source_splits> sources) {
  split_plan out;
  for (const auto& s : sources) out.groups = std::max(out.groups, s.group + 1);
  out.sources = std::move(sources);
  return out;
}

split_plan one_source(std::optional<uint64_t> splits) { return plan_of({{.splits = splits}}); }

struct outcome {
  bool wait = false;
  std::optional<split_range> splits;
};

/// Puts a request as a job does. `facts`, if not null, gets what was applied.
outcome lease(split_assigner& core, const lease_request& wanted, const std::set<task_id>& blocked,
              time_point now, std::vector<split_assigner::fact>* facts = nullptr) {
  const auto apply = [&](const split_assigner::fact& x) {
    core.apply(x);
    if (facts != nullptr)
      facts->push_back(x);
  };
  if (auto news = core.note(wanted))
    apply(*news);
  EXPECT_EQ(core.note(wanted), std::nullopt) << "said twice";
  const auto given = core.decide(wanted, blocked, now);
  if (!given)
    return {true, {}};
  apply(*given);
  core.keep_pace(*given, now);
  return {false, given->splits};
}

/// Leases to one task after the other at a steady pace.
class leasing {
public:
  explicit leasing(const split_plan& plan, size_t tasks = 1) : core(plan) {
    core.apply(split_assigner::shared_by{tasks});
  }
  outcome ask(task_id who, uint32_t source = 0, uint64_t pass = 0,
              std::optional<uint64_t> total = {}) {
    now += step;
    return lease(core, {who, source, pass, total}, blocked, now);
  }
  /// The sizes of leases until the end.
  std::vector<uint64_t> sizes(task_id who) {
    std::vector<uint64_t> out;
    for (;;) {
      const auto got = ask(who);
      if (got.wait || !got.splits)
        return out;
      out.push_back(got.splits->count);
    }
  }
  split_assigner core;
  std::set<task_id> blocked;
  time_point now{};
  duration step = std::chrono::microseconds{10};
};

TEST(SplitAssigner, StartsWithOneSplitAndGrowsEightfoldWhileATaskIsFast) {
  leasing x{one_source(1'000'000'000), 2};
  const auto sizes = x.sizes(a);
  EXPECT_EQ((std::vector<uint64_t>{sizes.begin(), sizes.begin() + 4}),
            (std::vector<uint64_t>{1, 8, 64, 512}));
  EXPECT_LT(sizes.size(), 120u) << "few leases for many splits";
}

TEST(SplitAssigner, LeasesAtMostAQuarterOfTheRestToOneOfTwoTasksAndOneAtLast) {
  leasing x{one_source(1000), 2};
  x.step = std::chrono::milliseconds{20}; // for any lease
  uint64_t left = 1000;
  const auto sizes = x.sizes(a);
  for (auto n : sizes) {
    EXPECT_LE(n, (left + 3) / 4);
    left -= n;
  }
  EXPECT_EQ(left, 0u);
  EXPECT_EQ(sizes.back(), 1u);
}

TEST(SplitAssigner, SharesOutNoFurtherWhatIsReadInNoTime) {
  leasing x{one_source(100'000), 2};
  x.step = split_assigner::least_lease_time; // for any lease
  const auto sizes = x.sizes(a);
  const auto largest = std::max_element(sizes.begin(), sizes.end());
  EXPECT_TRUE(std::all_of(largest, sizes.end() - 1, [&](auto n) { return n == *largest; }));
  EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), uint64_t{0}), 100'000u);
}

TEST(SplitAssigner, LeasesNoMoreThanATaskReadsInTheLeaseTime) {
  leasing x{one_source(1'000'000)};
  x.step = std::chrono::milliseconds{50}; // for any lease: two splits in 100 ms at first
  EXPECT_EQ(x.ask(a).splits->count, 1u);
  EXPECT_EQ(x.ask(a).splits->count, 2u);
  x.step = std::chrono::milliseconds{400}; // it slows down
  EXPECT_EQ(x.ask(a).splits->count, 1u);
}

TEST(SplitAssigner, LeasesOneByOneUntilTheTotalIsKnown) {
  leasing x{one_source({})};
  EXPECT_EQ(x.ask(a).splits, (split_range{0, 1}));
  EXPECT_EQ(x.ask(a).splits, (split_range{1, 1}));
  EXPECT_EQ(x.ask(a, 0, 0, 3).splits, (split_range{2, 1}));
  EXPECT_EQ(x.ask(a, 0, 0, 3).splits, std::nullopt);
}

TEST(SplitAssigner, TellsTheEndOnlyWhenNoOtherTaskHasUnreadSplits) {
  leasing x{one_source(2), 2};
  EXPECT_TRUE(x.ask(a).splits);
  EXPECT_TRUE(x.ask(b).splits);
  EXPECT_TRUE(x.ask(a).wait);
  x.blocked = {a}; // it waits
  auto last = x.ask(b);
  EXPECT_FALSE(last.wait);
  EXPECT_FALSE(last.splits);
  last = x.ask(a);
  EXPECT_FALSE(last.wait);
  EXPECT_FALSE(last.splits);
}

TEST(SplitAssigner, DoesNotWaitForATaskThatIsGone) {
  leasing x{one_source(2), 2};
  EXPECT_TRUE(x.ask(a).splits);
  EXPECT_TRUE(x.ask(b).splits);
  EXPECT_TRUE(x.ask(a).wait);
  x.core.apply(split_assigner::task_gone{b});
  EXPECT_FALSE(x.ask(a).wait);
}

/// A task's question with its number.
lease_request numbered(task_id who, uint64_t number) { return {who, 0, 0, {}, number}; }

TEST(SplitAssigner, LeasesAgainWhatATaskGivesBackBeforeThePassIsOver) {
  split_assigner core{one_source(100)};
  core.apply(split_assigner::shared_by{2});
  time_point now{};
  uint64_t number = 0;
  split_range held{};
  while (held.count < 4) held = *lease(core, numbered(a, ++number), {}, now).splits;
  uint64_t read = core.leased() - held.count;
  uint64_t others = 0;
  outcome got;
  while (!(got = lease(core, numbered(b, ++others), {b}, now)).wait) read += got.splits->count;
  const auto back = core.give_back(a, {0, 0, number, {held.first + 1, held.count - 1}});
  ASSERT_TRUE(back);
  core.apply(*back);
  core.apply(split_assigner::task_gone{a});
  while (got = lease(core, numbered(b, others++), {b}, now), got.splits) {
    EXPECT_GT(got.splits->first, held.first);
    EXPECT_LT(got.splits->first, held.first + held.count);
    read += got.splits->count;
  }
  EXPECT_FALSE(got.wait);
  EXPECT_EQ(read, 99u) << "all but the one that was read";
}

TEST(SplitAssigner, TakesBackAWholeLeaseThatWasNotHeardOf) {
  split_assigner core{one_source(100)};
  const auto given = *lease(core, numbered(a, 1), {}, {}).splits;
  EXPECT_EQ(core.give_back(a, {0, 0, 0, {}}),
            (split_assigner::fact{split_assigner::returned{0, 0, given}}));
}

TEST(SplitAssigner, TakesNothingBackThatItDidNotLeaseLast) {
  split_assigner core{one_source(100)};
  lease(core, numbered(a, 1), {}, {});
  const auto given = *lease(core, numbered(a, 2), {}, {}).splits;
  EXPECT_FALSE(core.give_back(a, {0, 0, 1, {0, 1}}) == std::nullopt) << "the second is unheard of";
  EXPECT_FALSE(core.give_back(a, {0, 0, 2, {}})) << "all is read";
  EXPECT_FALSE(core.give_back(a, {0, 0, 2, {given.first, given.count + 1}}));
  EXPECT_FALSE(core.give_back(a, {0, 0, 2, {given.first + 1, given.count}}));
  EXPECT_FALSE(core.give_back(a, {0, 0, 3, given}));
  EXPECT_FALSE(core.give_back(a, {0, 1, 2, given})) << "another pass";
  EXPECT_FALSE(core.give_back(a, {1, 0, 2, given})) << "another source";
  EXPECT_FALSE(core.give_back(b, {0, 0, 2, given})) << "another task";
}

TEST(SplitAssigner, LeasesAlignedSourcesAsEqualRangesUpToTheShorterTotal) {
  leasing x{plan_of({{.splits = 40, .zipped = true}, {.splits = 30, .zipped = true}}), 2};
  uint64_t read = 0;
  for (;;) {
    const auto first = x.ask(a, 0).splits;
    if (!first)
      break;
    EXPECT_EQ(x.ask(a, 1).splits, first);
    read += first->count;
    const auto other = x.ask(b, 1).splits;
    if (other) {
      EXPECT_EQ(x.ask(b, 0).splits, other);
      read += other->count;
    }
    x.blocked = {b};
  }
  EXPECT_EQ(read, 30u);
}

TEST(SplitAssigner, LeasesZippedSourcesThatAreNotAlignedInPiecesOfEight) {
  leasing x{plan_of({{.splits = 10'000, .group = 0, .zipped = true},
                     {.splits = 10'000, .group = 1, .zipped = true}})};
  for (auto n : x.sizes(a)) EXPECT_LE(n, 8u);
}

TEST(SplitAssigner, DoesNotWaitForAPassThatATaskLeftUnread) {
  leasing x{plan_of({{.splits = 100, .group = 0, .zipped = true},
                     {.splits = 2, .group = 1, .zipped = true}}),
            2};
  EXPECT_TRUE(x.ask(a, 0).splits);
  while (x.ask(b, 0).splits) {
  }
  EXPECT_TRUE(x.ask(b, 0).wait) << "a holds a split";
  EXPECT_TRUE(x.ask(a, 0, 1).splits) << "its zip ended with the other source";
  EXPECT_FALSE(x.ask(b, 0).wait);
}

TEST(SplitAssigner, CountsPassesApart) {
  leasing x{one_source(1)};
  for (uint64_t pass = 0; pass < 3; ++pass) {
    EXPECT_EQ(x.ask(a, 0, pass).splits, (split_range{0, 1}));
    EXPECT_EQ(x.ask(a, 0, pass).splits, std::nullopt);
  }
}

TEST(SplitAssigner, TellsALateTaskThatForgottenPassesAreOver) {
  leasing x{one_source(3)};
  for (uint64_t pass = 0; pass < 1000; ++pass)
    while (x.ask(a, 0, pass).splits) {
    }
  EXPECT_LT(x.core.records(), 10u);
  const auto late = x.ask(b, 0, 500);
  EXPECT_FALSE(late.wait);
  EXPECT_FALSE(late.splits);
}

TEST(SplitAssigner, DoesNotLeaseAPassAgainWhoseReaderDied) {
  leasing x{one_source(1), 2};
  while (x.ask(a).splits) {
  }
  EXPECT_TRUE(x.ask(a, 0, 1).splits);
  EXPECT_FALSE(x.ask(b, 0, 0).splits);
  x.core.apply(split_assigner::task_gone{a});
  EXPECT_FALSE(x.ask(b, 0, 1).splits);
}

TEST(SplitAssigner, AnswersAQuestionThatIsPutAgainAsBefore) {
  leasing x{one_source(5), 2};
  const auto put = [&](task_id who, uint64_t pass, uint64_t number) {
    return lease(x.core, {who, 0, pass, {}, number}, x.blocked, x.now).splits;
  };
  const auto first = put(a, 0, 1);
  EXPECT_EQ(put(a, 0, 1), first);
  EXPECT_NE(put(b, 0, 1), first);
  uint64_t number = 1;
  while (put(a, 0, ++number)) EXPECT_EQ(put(a, 0, number), put(a, 0, number));
  EXPECT_EQ(put(a, 0, number), std::nullopt);
  EXPECT_EQ(x.core.leased(), 5u);
  EXPECT_TRUE(put(a, 1, 1)) << "the next pass counts from one again";
}

TEST(SplitAssigner, RemembersNothingOfSingleSplits) {
  leasing x{one_source(1'000'000)};
  x.step = std::chrono::seconds{1}; // so slow that every lease is one split
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(x.ask(a).splits->count, 1u);
  EXPECT_LT(x.core.records(), 10u);
}

/// Tasks that ask, read, wait, join, end and die in random order.
class assigner_schedule {
public:
  assigner_schedule(uint64_t seed, std::optional<uint64_t> known, uint64_t total, uint64_t passes)
    : random_(seed),
      core_(one_source(known)),
      replayed_(core_),
      known_(known),
      total_(total),
      passes_(passes),
      seen_(passes, std::vector<int>(total)),
      lost_(seen_) {
    join();
  }

  size_t run() {
    size_t events = 0;
    while (!tasks_.empty() && !::testing::Test::HasFailure()) {
      ++events;
      now_ += std::chrono::nanoseconds{random_() % 40'000'000};
      const auto kind = random_() % 1000;
      if (kind < 2 && tasks_.size() < 6 && !some_ended_)
        join();
      else if (kind < 3 && tasks_.size() > 1)
        die();
      else
        act();
      bool all_wait = !tasks_.empty();
      for (const auto& [id, t] : tasks_) all_wait &= t.waits;
      if (all_wait && !settle()) {
        ADD_FAILURE() << "every task waits and none is answered";
        break;
      }
    }
    EXPECT_TRUE(replayed_ == core_) << "the same facts make another state";
    for (uint64_t pass = 0; pass < passes_; ++pass)
      for (uint64_t i = 0; i < total_; ++i)
        EXPECT_EQ(seen_[pass][i] + lost_[pass][i], 1) << "split " << i;
    return events;
  }

private:
  struct state {
    bool waits = false;
    uint64_t pass = 0;
    uint64_t number = 0; ///< of its last question
    split_range held;
  };
  void join() {
    tasks_[task_id{++last_}];
    apply(split_assigner::shared_by{tasks_.size()});
  }
  void die() {
    auto at = tasks_.begin();
    std::advance(at, static_cast<long>(random_() % tasks_.size()));
    const auto& [waits, pass, number, held] = at->second;
    uint64_t begun = held.count;
    // One that leaves gives back what it has not begun, or has not heard of.
    if (const auto kind = random_() % 3; kind != 0) {
      begun = kind == 1 ? 0 : random_() % (held.count + 1);
      const split_range rest{held.first + begun, held.count - begun};
      const bool heard = !waits && kind != 1;
      const auto back = core_.give_back(
        at->first, {0, pass, number - (heard ? 0 : 1), heard ? rest : split_range{}});
      EXPECT_EQ(back.has_value(), !waits && rest.count != 0);
      if (back)
        apply(*back);
    }
    for (uint64_t i = 0; i < begun; ++i) ++lost_[pass][held.first + i];
    apply(split_assigner::task_gone{at->first});
    tasks_.erase(at);
    apply(split_assigner::shared_by{tasks_.size()});
    settle();
  }
  void act() {
    auto at = tasks_.begin();
    std::advance(at, static_cast<long>(random_() % tasks_.size()));
    auto& [id, t] = *at;
    if (t.waits)
      return;
    // What is under way is read when it asks for more.
    for (uint64_t i = 0; i < t.held.count; ++i) ++seen_[t.pass][t.held.first + i];
    t.held = {};
    t.waits = true;
    ++t.number;
    settle();
  }
  /// As the job actor: until nothing changes.
  bool settle() {
    bool any = false;
    for (bool moved = true; moved;) {
      moved = false;
      std::set<task_id> blocked;
      for (const auto& [id, t] : tasks_)
        if (t.waits)
          blocked.insert(id);
      for (auto at = tasks_.begin(); at != tasks_.end();) {
        auto& [id, t] = *at;
        if (!t.waits) {
          ++at;
          continue;
        }
        const auto total = known_ ? std::nullopt : std::optional{total_};
        std::vector<split_assigner::fact> facts;
        const auto got = lease(core_, {id, 0, t.pass, total, t.number}, blocked, now_, &facts);
        for (const auto& x : facts) replayed_.apply(x);
        if (got.wait) {
          ++at;
          continue;
        }
        any = moved = true;
        t.waits = false;
        blocked.erase(id);
        if (got.splits) {
          EXPECT_GT(got.splits->count, 0u);
          EXPECT_LE(got.splits->first + got.splits->count, total_);
          t.held = *got.splits;
        } else if (t.number = 0; ++t.pass == passes_) {
          some_ended_ = true;
          apply(split_assigner::task_gone{id});
          at = tasks_.erase(at);
          apply(split_assigner::shared_by{tasks_.size()});
          continue;
        }
        ++at;
      }
    }
    EXPECT_LT(core_.records(), 4 + 4 * (passes_ + 1) * (last_ + 1));
    return any;
  }

  void apply(const split_assigner::fact& x) {
    core_.apply(x);
    replayed_.apply(x);
  }

  std::mt19937_64 random_;
  split_assigner core_;
  split_assigner replayed_;
  std::optional<uint64_t> known_;
  uint64_t total_, passes_;
  time_point now_{};
  uint64_t last_ = 0;
  bool some_ended_ = false;
  std::map<task_id, state> tasks_;
  std::vector<std::vector<int>> seen_, lost_; ///< by pass and split
};

TEST(SplitAssigner, LeasesEachSplitOnceAndAlwaysEndsUnderRandomSchedules) {
  const auto base = std::random_device{}();
  size_t events = 0;
  for (uint64_t i = 0; events < 1'000'000 && !::testing::Test::HasFailure(); ++i) {
    const auto seed = (uint64_t{base} << 20) + i;
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random{seed};
    const auto total = random() % 2000;
    events += assigner_schedule{seed, i % 2 == 0 ? std::optional{total} : std::nullopt, total,
                                random() % 4 + 1}
                .run();
  }
}

} // namespace
} // namespace headrace
