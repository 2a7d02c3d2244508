#include "headrace/runtime/supervision/core.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

using namespace std::chrono_literals;

namespace headrace {
namespace {

using enum supervision_strategy;
using enum restart_policy;

const status normal;
const status crash = internal_error("division by zero");

/// A supervisor whose children are names in a set: commands are carried out at once and written
/// down as words.
class Supervision : public testing::Test {
protected:
  void make(supervision_strategy strategy, uint32_t max_restarts = 3) {
    supervision_options options{.path = "node",
                                .strategy = strategy,
                                .max_restarts = max_restarts,
                                .within = 10s,
                                .backoff = {.first = 100ms, .longest = 1s, .jitter = 0},
                                .kill_budget = 1s};
    core.emplace(options);
  }
  void children(restart_policy restart) {
    for (auto id : {"a", "b", "c"}) carry_out(core->add({id, restart, 2s}, now).value());
    log.clear();
  }
  void carry_out(const supervise::commands& commands) {
    for (auto& x : commands) std::visit([this](auto& y) { carry_out(y); }, x);
  }
  void carry_out(const supervise::start& x) {
    log += "+" + x.id + " ";
    run[x.id] = x.run;
    alive.insert(x.id);
  }
  void carry_out(const supervise::stop& x) {
    log += "-" + x.id + " ";
    EXPECT_EQ(run[x.id], x.run);
  }
  void carry_out(const supervise::kill& x) { log += "!" + x.id + " "; }
  void carry_out(const supervise::abandon& x) {
    log += "?" + x.id + " ";
    alive.erase(x.id);
  }
  void carry_out(const supervise::schedule& x) { timer = x; }
  void carry_out(const supervise::drop& x) {
    log += "x" + x.id + " ";
    cause = x.why;
  }
  void carry_out(const supervise::stopped&) { log += "stopped "; }
  void carry_out(const supervise::give_up& x) {
    log += "gave up ";
    cause = x.why;
  }
  void exit(const std::string& id, const status& why) {
    alive.erase(id);
    carry_out(core->exited(id, run[id], why, now));
  }
  /// Waits for the timer that the core asked for.
  void wait() {
    ASSERT_TRUE(timer);
    auto due = *std::exchange(timer, std::nullopt);
    now = std::max(now, due.at);
    carry_out(core->timer(due.epoch, now));
  }
  std::string taken() { return std::exchange(log, {}); }
  supervisor_snapshot::child seen(const std::string& id) {
    for (auto& x : core->snapshot().children)
      if (x.id == id)
        return x;
    return {.id = "none"};
  }

  std::optional<supervision_core> core;
  time_point now = time_point{} + 1h;
  std::map<std::string, uint64_t> run;
  std::set<std::string> alive;
  std::optional<supervise::schedule> timer;
  std::string log;
  status cause;
};

// -- which children come back: strategy x restart type x exit ---------------------------

struct restart_case {
  supervision_strategy strategy;
  restart_policy restart;
  bool crashes;
  /// What happens at once when b ends, as the others stop one after the other, and after the
  /// backoff.
  std::string stops;
  std::string starts;
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
  wait(); // c's patience, not a's backoff
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

TEST(Backoff, DrawsFromItsJitterAndRepeatsForItsSeed) {
  backoff_options options{.first = 100ms, .longest = 10s, .factor = 1, .jitter = 0.5};
  backoff x{options, 7}, y{options, 7}, z{options, 8};
  auto differ = false;
  for (int i = 0; i < 1000; ++i) {
    auto wait = x.failed(0s);
    EXPECT_GE(wait, 50ms);
    EXPECT_LE(wait, 150ms);
    EXPECT_EQ(wait, y.failed(0s));
    differ |= wait != z.failed(0s);
  }
  EXPECT_TRUE(differ);
}

TEST(Backoff, NeverPassesItsBound) {
  backoff x{{.first = 1s, .longest = 10s, .jitter = 0.5}, 1};
  for (int i = 0; i < 5000; ++i) EXPECT_LE(x.failed(0s), 10s);
}

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

// -- any sequence of events -----------------------------------------------------------------------

TEST_F(Supervision, KeepsItsPromisesOverRandomEvents) {
  auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random{seed};
  for (int round = 0; round < 300; ++round) {
    make(static_cast<supervision_strategy>(random() % 3), 4);
    alive.clear();
    timer.reset();
    cause = {};
    taken();
    for (int step = 0; step < 300; ++step) {
      auto id = std::string(1, static_cast<char>('a' + random() % 6));
      switch (random() % 6) {
      case 0:
        if (child_spec spec{id, static_cast<restart_policy>(random() % 3), 2s}; true) {
          if (random() % 2)
            spec.own_budget = restart_budget{.max_restarts = 2, .within = 10s};
          if (auto x = core->add(spec, now))
            carry_out(*x);
        }
        break;
      case 1: carry_out(core->remove(id, now)); break;
      case 2:
        if (alive.contains(id))
          exit(id, random() % 2 ? crash : normal);
        break;
      case 3:
        if (timer && random() % 2)
          wait();
        break;
      default: now += 1ms * static_cast<int>(random() % 2000);
      }
      // What the core takes for alive is what lives, and it never starts what still does.
      std::set<std::string> thought;
      for (auto& x : core->snapshot().children)
        if (x.state == child_state::running || x.state == child_state::stopping)
          thought.insert(x.id);
      ASSERT_EQ(thought, alive);
    }
    // A stop always ends, whatever the children do.
    carry_out(core->stop(now));
    for (int i = 0; i < 100 && !alive.empty(); ++i) wait();
    ASSERT_TRUE(alive.empty());
    auto said = taken();
    ASSERT_TRUE(said.ends_with("stopped ") || said.ends_with("gave up ")) << said;
  }
}

} // namespace
} // namespace headrace
