#include "headrace/actors/job/round_table.hpp"

#include <gmock/gmock.h>

namespace headrace::detail::test {
namespace {

using testing::HasSubstr;

const consumer_id a{1}, b{2}, c{3};
const task_id t{7}, u{8}, v{9};

/// A table for two consumers, whose rounds have begun with task `t`.
round_table begun() {
  round_table out{2};
  out.take_seat(a, 0);
  out.take_seat(b, 1);
  out.apply(std::get<round_table::agreed>(out.next({{t}}, {}, 0)));
  return out;
}
template <class Step>
bool is(const round_table::step& x) {
  return std::holds_alternative<Step>(x);
}
round_epoch agreed_in(const round_table::step& x) { return std::get<round_table::agreed>(x).next; }

TEST(RoundTable, BeginsOnceAllConsumersAndTheTasksThatStartAreThere) {
  round_table x{2};
  x.take_seat(a, 0);
  EXPECT_TRUE(is<round_table::wait>(x.next({{t}}, {}, 0)));
  x.take_seat(b, 1);
  EXPECT_TRUE(is<round_table::wait>(x.next({}, {}, 0)));
  EXPECT_TRUE(is<round_table::wait>(x.next({{t}, true}, {}, 0)));
  EXPECT_EQ(agreed_in(x.next({{t, u}}, {}, 0)), (round_epoch{1, 0, {{t, 0}, {u, 0}}}));
}

TEST(RoundTable, BeginsAnEpochAtTheFurthestRoundThatAConsumerWaitsWith) {
  auto x = begun();
  EXPECT_TRUE(is<round_table::wait>(x.next({{t}}, {}, 0)));
  EXPECT_TRUE(is<round_table::wait>(x.next({{t}, true}, {}, 0)));
  EXPECT_EQ(std::get<round_table::proposed>(x.next({{t, u}}, {}, 0)).epoch, 2u);
  x.apply(round_table::proposed{2});
  EXPECT_TRUE(is<round_table::wait>(x.next({{t, u}}, {{a, 5}}, 0)));
  EXPECT_EQ(agreed_in(x.next({{t, u}}, {{a, 5}, {b, 6}}, 0)),
            (round_epoch{2, 6, {{t, 6}, {u, 0}}}));
}

TEST(RoundTable, CountsTheRoundsThroughWhichOthersWentWithoutAConsumerThatIsGone) {
  auto x = begun();
  x.leave_seat(a, {4, 2});
  x.take_seat(c, 0);
  x.apply(round_table::agreed{{2, 10, {{t, 10}}}});
  EXPECT_EQ(x.missed(), 2u) << "it can have missed no more";
  EXPECT_TRUE(x.absent().empty());
  x.leave_seat(b, {4, UINT64_MAX});
  x.take_seat(a, 1);
  x.apply(round_table::agreed{{3, 10, {{t, 10}}}});
  EXPECT_EQ(x.missed(), 2u + 6);
  x.leave_seat(c, {14, UINT64_MAX});
  x.take_seat(b, 0);
  x.apply(round_table::agreed{{4, 12, {{t, 12}}}});
  EXPECT_EQ(x.missed(), 8u) << "it was ahead of the others";
}

TEST(RoundTable, CountsWhatLostConsumersHaveMissedWhenTheLastOneLeaves) {
  auto x = begun();
  x.leave_seat(a, {4, UINT64_MAX, true});
  x.leave_seat(b, {7, UINT64_MAX}, 9);
  EXPECT_EQ(x.missed(), 5u) << "the second one has left in order";
  EXPECT_TRUE(x.absent().empty());
  auto y = begun();
  y.leave_seat(a, {4, UINT64_MAX, true});
  y.take_seat(c, 0);
  y.leave_seat(b, {7, UINT64_MAX}, 9);
  EXPECT_EQ(y.missed(), 5u) << "one that waits for its first epoch continues nothing";
}

TEST(RoundTable, GoesOnWithoutATaskThatIsGone) {
  auto x = begun();
  EXPECT_TRUE(is<round_table::wait>(x.next({}, {}, 0))) << "there is nothing to go on with";
  EXPECT_TRUE(is<round_table::proposed>(x.next({{u}, true}, {}, 0)));
}

TEST(RoundTable, LetsThoseThatWaitGoOnAsFarAsOneThatLeftMeanwhile) {
  auto x = begun();
  x.apply(round_table::proposed{2});
  x.leave_seat(b);
  EXPECT_EQ(agreed_in(x.next({{t, u}}, {{a, 5}}, 9)), (round_epoch{2, 9, {{t, 9}, {u, 0}}}));
  auto y = begun();
  y.leave_seat(b);
  EXPECT_TRUE(is<round_table::wait>(y.next({{u}}, {}, 9)))
    << "who does not wait goes on with what it has";
  EXPECT_TRUE(is<round_table::wait>(y.next({{t, u}}, {}, 9, true))) << "which a task says";
  EXPECT_TRUE(is<round_table::proposed>(y.next({{u}}, {}, 9, true))) << "unless that is gone";
}

TEST(RoundTable, HasAConsumerInThePlaceOfAnotherBeginWithTheNextEpoch) {
  auto x = begun();
  x.leave_seat(b);
  EXPECT_THAT(x.may_take(1, false, "train").message(), HasSubstr("says so with `rejoin`"));
  EXPECT_THAT(x.may_take(0, false, "train").message(), HasSubstr("another consumer reads"));
  EXPECT_THAT(x.may_take(2, true, "train").message(), HasSubstr("must be 0 to 1"));
  EXPECT_TRUE(x.may_take(1, true, "train").ok());
  x.take_seat(c, 1);
  x.apply(std::get<round_table::proposed>(x.next({{t}}, {}, 0)));
  EXPECT_EQ(x.view().seat_of(c)->begins, 2u);
  EXPECT_EQ(agreed_in(x.next({{t}}, {{a, 4}}, 0)), (round_epoch{2, 4, {{t, 4}}}));
}

TEST(RoundTable, BeginsTasksAnewWhereNobodyKnowsWhereTheyWere) {
  auto x = begun();
  x.leave_seat(a);
  x.leave_seat(b);
  EXPECT_TRUE(x.may_take(0, false, "train").ok());
  x.take_seat(a, 0);
  x.take_seat(c, 1);
  EXPECT_TRUE(is<round_table::renew>(x.next({{t}}, {}, 0)));
  EXPECT_EQ(agreed_in(x.next({{v}}, {}, 0)), (round_epoch{2, 0, {{v, 0}}}));
}

} // namespace
} // namespace headrace::detail::test
