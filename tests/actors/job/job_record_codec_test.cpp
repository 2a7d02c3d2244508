#include "tests/actors/job/driven_job.hpp"
#include "tests/actors/job/every_fact.hpp"
#include "tests/actors/job/reread_record.hpp"

#include "headrace/actors/store/stored_words.hpp"
#include "headrace/schemas/job_record.capnp.h"

#include <gmock/gmock.h>

#include <set>

namespace headrace::detail::test {
namespace {

using testing::HasSubstr;
using fact = job_record::fact;

std::pair<size_t, size_t> kind_of(const fact& x) {
  return std::visit(
    [&]<class T>(const T& what) {
      if constexpr (requires { what.index(); })
        return std::pair{x.what.index(), what.index()};
      else
        return std::pair{x.what.index(), size_t{0}};
    },
    x.what);
}
template <class T>
constexpr size_t kinds = 1;
template <class... T>
constexpr size_t kinds<std::variant<T...>> = (kinds<T> + ...);

TEST(JobRecordCodec, KeepsEachKindOfFact) {
  std::set<std::pair<size_t, size_t>> seen;
  for (const auto& x : every_fact()) {
    seen.insert(kind_of(x));
    const auto back = job_codec::read_facts(job_codec::write_facts({x}));
    ASSERT_TRUE(back) << to_string(back.status());
    EXPECT_TRUE(*back == std::vector{x}) << kind_of(x).first << " " << kind_of(x).second;
  }
  EXPECT_EQ(seen.size(), kinds<decltype(fact::what)>) << "a kind of fact has no row";
}

TEST(JobRecordCodec, KeepsGroupsInTheirOrder) {
  for (const auto& group : {every_fact(), std::vector<fact>{}})
    EXPECT_TRUE(job_codec::read_facts(job_codec::write_facts(group)).value() == group);
}

TEST(JobRecordCodec, TakesFewBytesForALease) {
  const fact lease{
    0, split_assigner::fact{split_assigner::leased_to{task_id{1}, 0, 0, 5, split_range{1000, 8}}}};
  EXPECT_LE(job_codec::write_facts({lease}).size(), 96u);
}

TEST(JobRecordCodec, RefusesWhatANewerBuildWroteAndNamesIt) {
  // A copy of `from` in which the number at `offset`, which is `was`, is replaced by `is`: zero, or
  // the number of a union member that this build does not define.
  const auto doctored = [](const buffer& from, uint16_t was, uint16_t is, size_t offset) {
    auto out = mutable_buffer{from.size()};
    std::memcpy(out.data(), from.data(), from.size());
    uint16_t there = 0;
    std::memcpy(&there, out.data() + offset, sizeof(there));
    EXPECT_EQ(there, was) << "the test looks in the wrong place";
    std::memcpy(out.data() + offset, &is, sizeof(is));
    return std::move(out).freeze();
  };
  // The 8-byte words of the message are: the pointer to the root, the pointer to the list, the
  // list's tag, the fact's repetition, and a word that begins with the union member's number.
  const auto forgotten = job_codec::write_facts({{0, job_record::forgotten{}}});
  const auto arm = job_codec::read_facts(doctored(forgotten, 2, 999, 4 * 8)).status();
  EXPECT_EQ(arm.code(), status_code::unimplemented);
  EXPECT_THAT(arm.message(), HasSubstr("fact of a job number 999 is not known to this build"));
  const auto nothing = job_codec::read_facts(doctored(forgotten, 2, 0, 4 * 8)).status();
  EXPECT_EQ(nothing.code(), status_code::data_loss);
  const auto write_state_number = [](uint16_t state) {
    return write_words<schema::JobFacts>([&](schema::JobFacts::Builder out) {
      out.initFacts(1)[0].initTaskIs().setState(static_cast<schema::TaskState>(state));
    });
  };
  EXPECT_TRUE(job_codec::read_facts(write_state_number(5)));
  const auto value = job_codec::read_facts(write_state_number(777)).status();
  EXPECT_EQ(value.code(), status_code::unimplemented);
  EXPECT_THAT(value.message(), HasSubstr("task state number 777"));
}

TEST(JobRecordCodec, KeepsAState) {
  const auto empty = empty_job();
  EXPECT_TRUE(job_codec::read_state(job_codec::write_state(empty), empty).value() == empty);
  const auto rich = rich_state();
  const auto back = job_codec::read_state(job_codec::write_state(rich), empty);
  ASSERT_TRUE(back) << to_string(back.status());
  EXPECT_TRUE(*back == rich);
  EXPECT_EQ(back->ended_as(0), internal_error("why"));
  EXPECT_EQ(back->ended_as(7), internal_error("why"));
  EXPECT_EQ(back->repetitions().at(3).seed, 42u);
}

TEST(JobRecordCodec, KeepsAStateOfManyElementsThatAreAllZero) {
  // No job makes these facts, but a damaged state may contain them.
  const auto bytes = write_words<schema::JobState>([](schema::JobState::Builder out) {
    auto splits = out.initRepetitions(1)[0].initSplits();
    splits.initGroups(1)[0].initSources(1);
    splits.initPasses(1)[0].initReturned(5000);
  });
  const job_record one{job_id{5}, sharding_policy::dynamic, one_source(10)};
  const auto state = job_codec::read_state(bytes, one);
  ASSERT_TRUE(state) << to_string(state.status());
  const auto again = job_codec::read_state(job_codec::write_state(*state), one);
  ASSERT_TRUE(again) << to_string(again.status());
  EXPECT_TRUE(*again == *state);
}

TEST(JobRecordCodec, RefusesTheStateOfAnotherPlan) {
  const auto bytes = job_codec::write_state(rich_state());
  const job_record one{job_id{5}, sharding_policy::dynamic, one_source(10)};
  const auto how = job_codec::read_state(bytes, one).status();
  EXPECT_EQ(how.code(), status_code::data_loss);
  EXPECT_THAT(how.message(), HasSubstr("plan"));
}

TEST(JobRecordCodec, RefusesCountersThatContradictEachOther) {
  const auto refusal = [](auto&& fill) {
    const auto bytes = write_words<schema::JobState>([&](schema::JobState::Builder out) {
      auto r = out.initRepetitions(1)[0];
      auto splits = r.initSplits();
      auto group = splits.initGroups(1)[0];
      group.initSources(1);
      fill(out, r, splits);
    });
    const job_record one{job_id{5}, sharding_policy::dynamic, one_source(10)};
    const auto how = job_codec::read_state(bytes, one).status();
    return how.ok() || how.code() == status_code::data_loss ? how.message() : to_string(how);
  };
  using state = schema::JobState::Builder;
  using repetition = schema::JobState::Repetition::Builder;
  using splits = schema::SplitState::Builder;
  EXPECT_EQ(refusal([](state, repetition, splits) {}), "") << "else the others mean nothing";
  EXPECT_THAT(
    refusal([](state, repetition r, splits) { r.initIteration().initTasks(1)[0].setTaskId(5); }),
    HasSubstr("task 5 is there, and the last one is 0"));
  EXPECT_THAT(refusal([](state, repetition r, splits) { r.initIteration().initTasks(2); }),
              HasSubstr("task 0 is there twice"));
  EXPECT_THAT(refusal([](state out, repetition, splits) { out.setOverBelow(1); }),
              HasSubstr("repetition 0 is there, and forgotten"));
  EXPECT_THAT(refusal([](state, repetition, splits s) { s.initPasses(1)[0].setGroup(4); }),
              HasSubstr("group 4, which is not there"));
  EXPECT_THAT(refusal([](state, repetition, splits s) {
                auto pass = s.initPasses(1)[0];
                pass.setAsked(true);
                auto given = pass.initHoldings(1)[0].initGiven(1)[0];
                given.setCount(2);
              }),
              HasSubstr("source 0 was told 2 ranges of 0"));
  EXPECT_THAT(refusal([](state, repetition, splits s) {
                auto range = s.initPasses(1)[0].initReturned(1)[0];
                range.setFirst(2);
                range.setCount(UINT64_MAX);
              }),
              HasSubstr("would end after the last number"));
  EXPECT_THAT(refusal([](state, repetition, splits s) { s.initAnswers(1); }),
              HasSubstr("has no number"));
  EXPECT_THAT(refusal([](state, repetition r, splits) { r.initHeld(1)[0].setHandedOut(1); }),
              HasSubstr("has handed out 1 of 0 elements"));
}

} // namespace
} // namespace headrace::detail::test
