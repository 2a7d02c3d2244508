#include "tests/runtime/supervision/obeyed_core.hpp"

namespace headrace::detail::test {
namespace {

// -- children that are restarted: strategy x restart type x exit ------------------------

struct restart_case {
  supervision_strategy strategy;
  restart_policy restart;
  bool crashes;
  std::string stops;  ///< the commands when b ends, while the other children stop in turn
  std::string starts; ///< the commands after the backoff
};

class RestartCases : public Supervision, public testing::WithParamInterface<restart_case> {};

TEST_P(RestartCases, AreAsTheStrategyAndTheTypeSay) {
  auto& x = GetParam();
  make(x.strategy);
  children(x.restart);
  exit("b", x.crashes ? crash : normal);
  std::string stops;
  for (auto word = taken(); !word.empty(); word = taken()) {
    stops += word;
    if (word.starts_with("-"))
      exit(word.substr(1, 1), cancelled("asked to stop"));
  }
  EXPECT_EQ(stops, x.stops);
  if (timer)
    wait();
  EXPECT_EQ(taken(), x.starts);
}

INSTANTIATE_TEST_SUITE_P(
  Supervision, RestartCases,
  testing::Values(restart_case{one_for_one, permanent, true, "", "+b "},
                  restart_case{one_for_one, permanent, false, "", "+b "},
                  restart_case{one_for_one, transient, true, "", "+b "},
                  restart_case{one_for_one, transient, false, "", ""},
                  restart_case{one_for_one, temporary, true, "", ""},
                  restart_case{one_for_one, temporary, false, "", ""},
                  restart_case{one_for_all, permanent, true, "-c -a ", "+a +b +c "},
                  restart_case{one_for_all, permanent, false, "-c -a ", "+a +b +c "},
                  restart_case{one_for_all, transient, true, "-c -a ", "+a +b +c "},
                  restart_case{one_for_all, transient, false, "", ""},
                  restart_case{one_for_all, temporary, true, "", ""},
                  restart_case{one_for_all, temporary, false, "", ""},
                  restart_case{rest_for_one, permanent, true, "-c ", "+b +c "},
                  restart_case{rest_for_one, permanent, false, "-c ", "+b +c "},
                  restart_case{rest_for_one, transient, true, "-c ", "+b +c "},
                  restart_case{rest_for_one, transient, false, "", ""},
                  restart_case{rest_for_one, temporary, true, "", ""},
                  restart_case{rest_for_one, temporary, false, "", ""}),
  [](auto& info) {
    auto& x = info.param;
    return std::string{to_string(x.strategy)} + "_" + std::string{to_string(x.restart)}
           + (x.crashes ? "_crash" : "_normal");
  });

// -- groups -----------------------------------------------------------------------------

TEST_F(Supervision, StopsATemporaryMemberOfAGroupForGood) {
  make(one_for_all);
  carry_out(core->add({"a", permanent, 2s}, now).value());
  carry_out(core->add({"t", temporary, 2s}, now).value());
  taken();
  exit("a", crash);
  EXPECT_EQ(taken(), "-t ");
  exit("t", normal);
  wait();
  EXPECT_EQ(taken(), "+a ");
  EXPECT_EQ(seen("t").id, "none");
}

TEST_F(Supervision, StartsNobodyOfAGroupWhileAnotherStillStops) {
  make(one_for_all);
  children(permanent);
  exit("a", crash);
  EXPECT_EQ(taken(), "-c ");
  wait(); // until the time for c to stop is over; a's backoff does not count
  EXPECT_EQ(taken(), "!c ");
  exit("c", crash);
  EXPECT_EQ(taken(), "-b ");
  exit("b", crash);
  EXPECT_EQ(taken(), "+a +b +c ");
}

TEST_F(Supervision, CountsTheRestartOfAGroupOnce) {
  make(one_for_all, 1);
  children(permanent);
  exit("a", crash);
  exit("c", crash);
  exit("b", crash);
  wait();
  EXPECT_EQ(alive.size(), 3u);
  EXPECT_EQ(core->snapshot().restarts, 1u);
  EXPECT_EQ(seen("c").restarts, 1u);
}

// -- intensity and escalation --------------------------------------------------------------

TEST_F(Supervision, GivesUpWhenTheBudgetIsSpentAndStopsTheOthersFirst) {
  make(one_for_one, 2);
  children(permanent);
  for (int i = 0; i < 2; ++i) {
    exit("b", crash);
    wait();
    EXPECT_EQ(taken(), "+b ");
  }
  exit("b", crash);
  EXPECT_EQ(taken(), "-c ");
  exit("c", normal);
  EXPECT_EQ(taken(), "-a ");
  exit("a", normal);
  EXPECT_EQ(taken(), "gave up ");
  EXPECT_EQ(cause.code(), status_code::internal);
  EXPECT_EQ(cause.message(),
            "supervisor 'node' gave up: child 'b' failed after 2 restarts within 10 s: "
            "internal: division by zero");
}

TEST_F(Supervision, DropsAChildThatSpentItsOwnBudgetAndKeepsTheOthers) {
  make(one_for_one, 1);
  children(permanent);
  carry_out(
    core->add({.id = "x", .own_budget = restart_budget{.max_restarts = 2, .within = 10s}}, now)
      .value());
  taken();
  for (int i = 0; i < 2; ++i) {
    exit("x", crash);
    wait();
    EXPECT_EQ(taken(), "+x ");
  }
  exit("x", crash);
  EXPECT_EQ(taken(), "xx ");
  EXPECT_EQ(cause.message(),
            "supervisor 'node' gave up: child 'x' failed after 2 restarts within 10 s: "
            "internal: division by zero");
  EXPECT_EQ(seen("x").id, "none");
  exit("b", crash);
  wait();
  EXPECT_EQ(taken(), "+b ") << "x's restarts were counted with the others'";
}

TEST_F(Supervision, ForgetsAChildsOwnRestartsThatAreOld) {
  make(one_for_one);
  carry_out(
    core->add({.id = "x", .own_budget = restart_budget{.max_restarts = 1, .within = 10s}}, now)
      .value());
  for (int i = 0; i < 5; ++i) {
    exit("x", crash);
    wait();
    now += 10s;
  }
  EXPECT_EQ(seen("x").restarts, 5u);
}

TEST_F(Supervision, HandsUpTheWholeChainOfCauses) {
  make(one_for_one, 0);
  children(permanent);
  exit("a",
       {status_code::data_loss, "supervisor 'node/a' gave up: child 'x' failed after 3 restarts "
                                "within 10 s: data_loss: bad checksum"});
  exit("c", normal);
  exit("b", normal);
  EXPECT_EQ(cause.code(), status_code::data_loss);
  EXPECT_NE(cause.message().find("'node' gave up: child 'a'"), std::string::npos);
  EXPECT_NE(cause.message().find("'node/a' gave up: child 'x'"), std::string::npos);
  EXPECT_NE(cause.message().find("bad checksum"), std::string::npos);
}

TEST_F(Supervision, ForgetsRestartsThatAreOld) {
  make(one_for_one, 2);
  children(permanent);
  for (int i = 0; i < 20; ++i) {
    exit("b", crash);
    wait();
    now += 5s;
  }
  EXPECT_EQ(alive.size(), 3u);
  EXPECT_EQ(seen("b").restarts, 20u);
  EXPECT_EQ(cause, status{});
}

TEST_F(Supervision, SaysNothingMoreAfterItGaveUp) {
  make(one_for_one, 0);
  carry_out(core->add({"a"}, now).value());
  exit("a", crash);
  taken();
  carry_out(core->stop(now));
  EXPECT_EQ(taken(), "");
  EXPECT_FALSE(core->add({"b"}, now).ok());
}

// -- backoff -------------------------------------------------------------------------------

TEST_F(Supervision, DoublesTheWaitUpToItsBoundAndResetsItAfterAStableRun) {
  make(one_for_one, 100);
  carry_out(core->add({"a"}, now).value());
  auto failed_after = [&](duration lived) {
    now += lived;
    exit("a", crash);
    auto wait_for = timer->at - now;
    wait();
    return wait_for;
  };
  EXPECT_EQ(failed_after(0s), 100ms);
  EXPECT_EQ(failed_after(0s), 200ms);
  EXPECT_EQ(failed_after(1s), 400ms);
  EXPECT_EQ(failed_after(0s), 800ms);
  EXPECT_EQ(failed_after(0s), 1s);
  EXPECT_EQ(failed_after(29s), 1s);
  EXPECT_EQ(failed_after(30s), 100ms);
  EXPECT_EQ(failed_after(0s), 200ms);
}

} // namespace
} // namespace headrace::detail::test
