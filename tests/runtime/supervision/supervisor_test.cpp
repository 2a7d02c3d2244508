#include "tests/runtime/supervision/supervised_team.hpp"

#include <map>
#include <set>

using namespace std::chrono_literals;

namespace headrace::detail::supervisor_test {
namespace {

TEST_F(SupervisorActor, RestartsACrashedChildAfterItsBackoff) {
  start(supervision_strategy::one_for_one);
  auto before = child("b");
  crash("b");
  EXPECT_EQ(log.taken(), lines{"-b"});
  EXPECT_FALSE(child("b"));
  node.advance(99ms);
  EXPECT_EQ(log.taken(), lines{});
  node.advance(1ms);
  EXPECT_EQ(log.taken(), lines{"+b"});
  EXPECT_NE(child("b"), before);
  EXPECT_TRUE(child("b"));
}

TEST_F(SupervisorActor, RestartsAllOneAfterTheOther) {
  start(supervision_strategy::one_for_all);
  crash("b");
  EXPECT_EQ(log.taken(), (lines{"-b", "-c", "-a"}));
  node.advance(100ms);
  EXPECT_EQ(log.taken(), (lines{"+a", "+b", "+c"}));
}

TEST_F(SupervisorActor, RestartsTheRest) {
  start(supervision_strategy::rest_for_one);
  crash("b");
  node.advance(100ms);
  EXPECT_EQ(log.taken(), (lines{"-b", "-c", "+b", "+c"}));
}

TEST_F(SupervisorActor, EndsWithTheChainOfCausesWhenItGivesUp) {
  start(supervision_strategy::one_for_one, 1);
  node.self->monitor(parent);
  crash("a");
  node.advance(1s);
  crash("a");
  ASSERT_TRUE(node.self->has_next_message());
  node.self->receive([](const caf::down_msg& down) {
    auto why = to_status(down.reason);
    EXPECT_EQ(why.code(), status_code::internal);
    EXPECT_EQ(why.message(),
              "supervisor 'node' gave up: child 'a' failed after 1 restarts within 10 s: "
              "internal: division by zero");
  });
  EXPECT_EQ(log.taken(), (lines{"-a", "+a", "-a", "-c", "-b"}));
  EXPECT_TRUE(board->roots().empty());
}

TEST_F(SupervisorActor, WaitsLongerEachTimeAndAsAtFirstAfterAStableRun) {
  start(supervision_strategy::one_for_one, 100);
  const auto comes_back_after = [&](duration wait) {
    crash("b");
    node.advance(wait - 1ms);
    EXPECT_EQ(log.taken(), lines{"-b"});
    node.advance(1ms);
    EXPECT_EQ(log.taken(), lines{"+b"});
  };
  comes_back_after(100ms);
  comes_back_after(200ms);
  comes_back_after(400ms);
  node.advance(30s);
  comes_back_after(100ms);
}

TEST_F(SupervisorActor, StartsASupervisorAgainThatGaveUpWithAllItsChildren) {
  std::string reason;
  options.observer.ended = [&](const std::string&, const status& why) { reason = why.message(); };
  start(supervision_strategy::one_for_one, 1);
  with_team([&](supervisor& team) {
    auto added = team.add({.id = "below"}, [&](uint64_t) {
      parent_options below{.supervision = options.supervision, .children = {"x"}, .log = &log};
      below.supervision.path = "node/below";
      return caf::actor_cast<caf::actor>(port::spawn<parent_state>(node.system, below));
    });
    EXPECT_TRUE(added.ok()) << to_string(added);
  });
  EXPECT_EQ(log.taken(), lines{"+x"});
  const auto crash_x = [&] {
    parent_actor below;
    with_team([&](supervisor& team) { below = team.find<parent_actor>("below"); });
    child_actor x;
    port::tell(below, local<team_call>{[&](supervisor& team) { x = team.find<child_actor>("x"); }});
    node.dispatch();
    port::tell(x, local<order>{order{internal_error("division by zero")}});
    node.dispatch();
  };
  crash_x();
  node.advance(100ms);
  EXPECT_EQ(log.taken(), (lines{"-x", "+x"}));
  crash_x(); // exceeds the restart budget of x's own supervisor
  EXPECT_EQ(log.taken(), lines{"-x"});
  EXPECT_EQ(reason, "supervisor 'node/below' gave up: child 'x' failed after 1 restarts within 10 "
                    "s: internal: division by zero");
  node.advance(100ms);
  EXPECT_EQ(log.taken(), lines{"+x"});
}

TEST_F(SupervisorActor, StopsInReverseOrderEachWithinItsBudget) {
  start(supervision_strategy::one_for_one);
  order_to("b", {.crash = {}, .deafen = true});
  auto stopped = false;
  with_team([&](supervisor& team) { team.stop([&] { stopped = true; }); });
  EXPECT_EQ(log.taken(), lines{"-c"});
  node.advance(1999ms);
  EXPECT_EQ(log.taken(), lines{});
  EXPECT_FALSE(stopped);
  node.advance(1ms);
  EXPECT_EQ(log.taken(), (lines{"-b", "-a"}));
  EXPECT_TRUE(stopped);
}

TEST_F(SupervisorActor, RemovesAChildForGood) {
  start(supervision_strategy::one_for_one);
  with_team([](supervisor& team) { team.remove("b"); });
  node.advance(1min);
  EXPECT_EQ(log.taken(), lines{"-b"});
  EXPECT_FALSE(child("b"));
}

TEST_F(SupervisorActor, LeavesATransientChildAloneThatWasAskedToStopOrEndedByItself) {
  start(supervision_strategy::one_for_one);
  for (std::string id : {"asked", "done"})
    with_team([&](supervisor& team) {
      auto added = team.add({.id = id, .restart = restart_policy::transient}, [this, id](uint64_t) {
        return caf::actor_cast<caf::actor>(port::spawn<child_state>(node.system, id, &log));
      });
      EXPECT_TRUE(added.ok());
    });
  log.taken();
  port::ask_to_exit(child("asked"));
  order_to("done", {});
  node.advance(1min);
  EXPECT_EQ(log.taken(), (lines{"-asked", "-done"}));
  EXPECT_EQ(board->roots().at(0).restarts, 0u);
}

TEST_F(SupervisorActor, TriesAgainWhenAStartFails) {
  start(supervision_strategy::one_for_one);
  int tries = 0;
  with_team([&](supervisor& team) {
    auto added = team.add({.id = "late"}, [&](uint64_t) -> result<caf::actor> {
      if (++tries == 1)
        return unavailable("not yet");
      if (tries == 2)
        throw std::runtime_error("still not");
      return caf::actor_cast<caf::actor>(port::spawn<child_state>(node.system, "late", &log));
    });
    EXPECT_TRUE(added.ok());
  });
  EXPECT_EQ(tries, 1);
  EXPECT_EQ(board->roots().at(0).children.at(3).last_reason, "unavailable: not yet");
  node.advance(100ms);
  EXPECT_EQ(tries, 2);
  EXPECT_EQ(board->roots().at(0).children.at(3).last_reason, "internal: start threw: still not");
  node.advance(200ms);
  EXPECT_TRUE(child("late"));
}

TEST_F(SupervisorActor, TellsItsObserver) {
  lines seen;
  options.observer.started = [&](const std::string& id, const caf::actor& actor) {
    EXPECT_TRUE(actor);
    seen.push_back("started " + id);
  };
  options.observer.ended = [&](const std::string& id, const status& why) {
    seen.push_back(id + " " + to_string(why));
  };
  options.children = {"a"};
  start(supervision_strategy::one_for_one);
  crash("a");
  node.advance(1s);
  EXPECT_EQ(seen, (lines{"started a", "a internal: division by zero", "started a"}));
}

TEST_F(SupervisorActor, HangsOutWhatItSees) {
  start(supervision_strategy::one_for_one);
  crash("b");
  auto x = board->roots().at(0);
  EXPECT_EQ(x.children.at(1).state, headrace::detail::child_state::waiting);
  EXPECT_EQ(x.children.at(1).last_reason, "internal: division by zero");
  node.advance(1s);
  x = board->roots().at(0);
  EXPECT_EQ(x.children.at(1).state, headrace::detail::child_state::running);
  EXPECT_EQ(x.children.at(1).restarts, 1u);
}

TEST_F(SupervisorActor, StopsItsChildrenInOrderBeforeItsOwnerEnds) {
  start(supervision_strategy::one_for_one);
  order_to("b", {.crash = {}, .deafen = true});
  with_team([](supervisor& team) { team.stop_before_owner(); });
  node.self->monitor(parent);
  port::ask_to_exit(parent);
  node.dispatch();
  EXPECT_EQ(log.taken(), lines{"-c"});
  EXPECT_FALSE(node.self->has_next_message()) << "it did not wait for its children";
  node.advance(2s);
  EXPECT_EQ(log.taken(), (lines{"-b", "-a"}));
  ASSERT_TRUE(node.self->has_next_message());
  node.self->receive([](const caf::down_msg& down) {
    EXPECT_TRUE(port::is(down.reason, caf::exit_reason::user_shutdown));
  });
}

TEST_F(SupervisorActor, EndsWhenAskedToThoughItGaveUpBefore) {
  status cause;
  options.observer.gave_up = [&](const status& why) { cause = why; };
  start(supervision_strategy::one_for_one, 0);
  with_team([](supervisor& team) { team.stop_before_owner(); });
  crash("a");
  EXPECT_FALSE(cause.ok());
  node.self->monitor(parent);
  port::ask_to_exit(parent);
  node.dispatch();
  EXPECT_TRUE(node.self->has_next_message());
  node.self->receive([](const caf::down_msg&) {});
  log.taken();
}

TEST_F(SupervisorActor, TellsOfAChildThatSpentItsOwnBudgetAndLivesOn) {
  lines seen;
  options.observer.dropped = [&](const std::string& id, const status& why) {
    seen.push_back(id + ": " + why.message());
  };
  start(supervision_strategy::one_for_one);
  with_team([this](supervisor& team) {
    auto added = team.add(
      {.id = "x", .own_budget = restart_budget{.max_restarts = 0, .within = 10s}},
      [this](uint64_t) {
        return caf::actor_cast<caf::actor>(port::spawn<child_state>(node.system, "x", &log));
      });
    EXPECT_TRUE(added.ok());
  });
  crash("x");
  EXPECT_EQ(seen, lines{"x: supervisor 'node' gave up: child 'x' failed after 0 restarts within "
                        "10 s: internal: division by zero"});
  EXPECT_FALSE(child("x"));
  EXPECT_TRUE(child("a"));
}

TEST_F(SupervisorActor, TakesItsChildrenAlongWhenItsOwnerIsKilled) {
  start(supervision_strategy::one_for_one);
  node.end(parent);
  auto gone = log.taken();
  EXPECT_EQ(std::set<std::string>(gone.begin(), gone.end()),
            (std::set<std::string>{"-a", "-b", "-c"}));
}

} // namespace
} // namespace headrace::detail::supervisor_test
