#include "tests/actors/job/every_fact.hpp"
#include "tests/actors/job/reread_record.hpp"
#include "tests/support/damaged.hpp"
#include "tests/support/test_seed.hpp"

#include <random>

// Stored records of jobs whose facts are not consistent, or whose bytes were changed.

namespace headrace::detail::test {
namespace {

using fact = job_record::fact;

/// Facts that are well formed, and need not be consistent with each other.
class random_facts {
public:
  explicit random_facts(uint64_t seed) : random_(seed) {}

  fact next() {
    using it = iteration;
    using sa = split_assigner;
    using lh = lease_history;
    const auto number = random_() % 3;
    switch (random_() % 20) {
    case 0: return {number, job_record::begun{random_()}};
    case 1:
      return random_() % 16 == 0   ? fact{number, job_record::forgotten{}}
             : random_() % 16 == 0 ? fact{number, job_record::collected{}}
                                   : fact{number, job_record::begun{1}};
    case 2: return {number, it::fact{it::reader_joined{consumer(), random_() % 2}}};
    case 3: return {number, it::fact{it::reader_left{consumer()}}};
    case 4: return {number, it::fact{it::task_is{a_task()}}};
    case 5: return {number, it::fact{it::finished_as{random_() % 2 ? status{} : not_found("x")}}};
    case 6: return {number, sa::fact{sa::shared_by{random_() % 3}}};
    case 7:
    case 8: return {number, sa::fact{sa::came_to{task(), source(), pass(), maybe(50)}}};
    case 9:
    case 10:
    case 11: {
      const auto answer =
        random_() % 4 == 0 ? split_answer{pass_over{true, random_() % 2}} : split_answer{range()};
      return {number, sa::fact{sa::leased_to{task(), source(), pass(), maybe(4), answer,
                                             answer && random_() % 2 == 0}}};
    }
    case 12: return {number, sa::fact{sa::task_gone{task()}}};
    case 13: return {number, sa::fact{sa::returned{source(), pass(), range(), random_() % 2 == 0}}};
    case 14: return {number, sa::fact{sa::closed{task(), source(), pass()}}};
    case 15: return {number, lh::fact{lh::lost{task(), {consumer()}}}};
    case 16: return {number, lh::fact{lh::received{consumer(), receipt()}}};
    case 17:
      return random_() % 2 ? fact{number, lh::fact{lh::unheard{consumer(), random_() % 4}}}
                           : fact{number, lh::fact{lh::given{task(), random_() % 4, receipt()}}};
    case 18: return {number, lh::fact{lh::settled{task(), {1, 2, 3, 4}}}};
    default:
      return random_() % 2
               ? fact{number, held_rows::fact{held_rows::task_over{
                                task(), {{consumer(), {random_() % 4, random_() % 4}}}}}}
             : random_() % 2
               ? fact{number, held_rows::fact{held_rows::handed_out{task(), consumer(), 2}}}
               : fact{number, held_rows::fact{held_rows::reader_gone{consumer()}}};
    }
  }

private:
  task_id task() { return task_id{random_() % 3 + 1}; }
  consumer_id consumer() { return consumer_id{random_() % 3 + 1}; }
  /// Mostly one of the three sources of the plan. Rarely a source that is not in the plan: source
  /// 3, or a source with a number near UINT32_MAX. For the latter, the assigner's computation of
  /// the group may overflow and give a group of the plan.
  uint32_t source() {
    const auto x = static_cast<uint32_t>(random_() % 32);
    return x < 30 ? x % 3 : x == 30 ? 3 : UINT32_MAX - static_cast<uint32_t>(random_() % 3);
  }
  uint64_t pass() {
    const auto x = random_() % 64;
    return x < 60 ? x % 4 : x < 62 ? 2000 : UINT64_MAX - random_() % 6;
  }
  split_range range() {
    const auto x = random_() % 64;
    if (x == 0)
      return {UINT64_MAX, 0};
    if (x == 1)
      return {1, UINT64_MAX - 1};
    return {random_() % 50, random_() % 10};
  }
  std::optional<uint64_t> maybe(uint64_t below) {
    return random_() % 2 ? std::nullopt : std::optional{random_() % below};
  }
  split_receipt receipt() {
    split_receipt out{
      .task = task(), .from_pass = random_() % 2, .approximate = random_() % 4 == 0};
    // A run begins after the previous run of the same source and pass, because the encoding of
    // receipts can express no other order.
    for (auto n = random_() % 3; n != 0; --n) {
      split_run run{source(), pass(), range()};
      if (const auto* last = out.reached.empty() ? nullptr : &out.reached.back();
          last != nullptr && last->source == run.source && last->pass == run.pass)
        run = {last->source, last->pass, {last->splits.first + last->splits.count, 0}};
      out.reached.push_back(run);
    }
    if (random_() % 2)
      out.newest = split_run{source(), pass(), {random_() % 50, 1}};
    return out;
  }
  iteration::task a_task() {
    return {task(), incarnation{1}, a_worker, static_cast<iteration::task_state>(random_() % 6)};
  }

  std::mt19937_64 random_;
};

TEST(JobRecordDamage, KeepsWhateverStateFactsMakeThatMakeNoSense) {
  const auto base = test_seed();
  for (uint64_t i = 0; i < 300 && !HasFailure(); ++i) {
    SCOPED_TRACE(testing::Message() << "seed " << base + i);
    random_facts facts{base + i};
    auto state = empty_job();
    reread_record reread{empty_job()};
    std::vector<fact> all;
    for (int n = 0; n < 300; ++n) {
      all.push_back(facts.next());
      state.apply(all.back());
      if (n % 50 == 0)
        reread.check(state, all);
    }
    reread.check(state, all);
  }
}

TEST(JobRecordDamage, RefusesDamagedBytesOrReadsARecordThatGoesOn) {
  const auto base = test_seed();
  std::mt19937_64 random{base};
  const auto state = job_codec::write_state(rich_state());
  const auto group = job_codec::write_facts(every_fact());
  size_t refused = 0;
  const size_t times = 20'000;
  for (size_t i = 0; i < times; ++i) {
    auto record = job_codec::read_state(damaged(state, random), empty_job());
    if (!record) {
      EXPECT_FALSE(record.status().message().empty());
      ++refused;
      record = rich_state();
    }
    const auto facts = job_codec::read_facts(damaged(group, random));
    if (facts)
      for (const auto& x : *facts) record->apply(x);
    for (const auto& x : every_fact()) record->apply(x);
    record->spent();
    if (i % 16 == 0) {
      const auto again = job_codec::read_state(job_codec::write_state(*record), empty_job());
      EXPECT_TRUE(again) << "round " << i << ": " << to_string(again.status());
    }
  }
  EXPECT_GT(refused, times / 10);
  EXPECT_LT(refused, times) << "nothing was read";
}

} // namespace
} // namespace headrace::detail::test
