#include "tests/runtime/supervision/obeyed_core.hpp"

namespace headrace::detail::test {
namespace {

// -- stopping --------------------------------------------------------------------------------

TEST_F(Supervision, StopsInReverseOrderOneAtATime) {
  make(one_for_one);
  children(permanent);
  carry_out(core->stop(now));
  EXPECT_EQ(taken(), "-c ");
  exit("c", normal);
  EXPECT_EQ(taken(), "-b ");
  exit("b", crash);
  EXPECT_EQ(taken(), "-a ");
  exit("a", normal);
  EXPECT_EQ(taken(), "stopped ");
}

TEST_F(Supervision, KillsAChildThatDoesNotStopInItsBudgetAndAbandonsItIfThatDoesNotHelp) {
  make(one_for_one);
  children(permanent);
  auto begin = now;
  carry_out(core->stop(now));
  wait();
  EXPECT_EQ(now - begin, 2s);
  EXPECT_EQ(taken(), "-c !c ");
  wait();
  EXPECT_EQ(now - begin, 3s);
  EXPECT_EQ(taken(), "?c -b ");
  exit("b", normal);
  exit("a", normal);
  EXPECT_EQ(taken(), "-a stopped ");
  EXPECT_EQ(core->snapshot().abandoned, 1u);
}

TEST_F(Supervision, StartsNobodyWhoWasWaitingWhenItStops) {
  make(one_for_one);
  children(permanent);
  exit("b", crash);
  carry_out(core->stop(now));
  exit("c", normal);
  exit("a", normal);
  now += 1min;
  if (timer)
    wait();
  EXPECT_EQ(taken(), "-c -a stopped ");
  EXPECT_EQ(seen("b").state, child_state::ended);
}

TEST_F(Supervision, StopsAtOnceWithoutChildren) {
  make(one_for_one);
  carry_out(core->stop(now));
  EXPECT_EQ(taken(), "stopped ");
}

// -- single children ---------------------------------------------------------------------------

TEST_F(Supervision, RemovesAChildWithoutRestartingIt) {
  make(one_for_all);
  children(permanent);
  carry_out(core->remove("b", now));
  EXPECT_EQ(taken(), "-b ");
  exit("b", crash);
  EXPECT_EQ(taken(), "");
  EXPECT_EQ(seen("b").id, "none");
  EXPECT_EQ(alive, (std::set<std::string>{"a", "c"}));
}

TEST_F(Supervision, RemovesAWaitingChildAtOnce) {
  make(one_for_one);
  children(permanent);
  exit("b", crash);
  carry_out(core->remove("b", now));
  wait();
  EXPECT_EQ(taken(), "");
  EXPECT_EQ(seen("b").id, "none");
}

TEST_F(Supervision, RefusesASecondChildOfTheSameName) {
  make(one_for_one);
  children(permanent);
  auto again = core->add({"b"}, now);
  EXPECT_EQ(again.status().code(), status_code::already_exists);
}

TEST_F(Supervision, ReplacesAChildThatHasEnded) {
  make(one_for_one);
  children(transient);
  exit("b", normal);
  EXPECT_EQ(seen("b").state, child_state::ended);
  carry_out(core->add({"b", transient}, now).value());
  EXPECT_EQ(taken(), "+b ");
  EXPECT_EQ(seen("b").restarts, 0u);
}

TEST_F(Supervision, IgnoresTheEndOfAnOldLife) {
  make(one_for_one);
  children(permanent);
  auto old = run["b"];
  exit("b", crash);
  wait();
  taken();
  carry_out(core->exited("b", old, crash, now));
  EXPECT_EQ(taken(), "");
  EXPECT_EQ(seen("b").state, child_state::running);
}

TEST_F(Supervision, IgnoresATimerOfAnOldEpoch) {
  make(one_for_one);
  children(permanent);
  exit("b", crash);
  auto due = *timer;
  EXPECT_TRUE(core->timer(due.epoch - 1, due.at).empty());
  EXPECT_EQ(core->timer(due.epoch, due.at).size(), 1u);
}

TEST_F(Supervision, ShowsItsChildren) {
  make(rest_for_one);
  children(permanent);
  exit("b", crash);
  auto x = core->snapshot();
  EXPECT_EQ(x.path, "node");
  EXPECT_EQ(x.strategy, rest_for_one);
  ASSERT_EQ(x.children.size(), 3u);
  EXPECT_EQ(x.children[0].state, child_state::running);
  EXPECT_EQ(x.children[1].state, child_state::waiting);
  EXPECT_EQ(x.children[1].last_reason, "internal: division by zero");
  EXPECT_EQ(x.children[2].state, child_state::stopping);
}

} // namespace
} // namespace headrace::detail::test
