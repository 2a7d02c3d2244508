#include "tests/actors/worker/worker_fixture.hpp"

#include <functional>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

// -- messages --------------------------------------------------------------------------------

TEST_F(WorkerActor, RegistersAndBeats) {
  ASSERT_EQ(dispatcher->count(kind::REGISTER_WORKER), 1u);
  EXPECT_EQ(dispatcher->last(kind::REGISTER_WORKER).getRegisterWorker().getWorkerId(), 0u);
  node.advance(1s);
  ASSERT_EQ(dispatcher->count(kind::WORKER_HEARTBEAT), 1u);
  const auto first = dispatcher->last(kind::WORKER_HEARTBEAT).getWorkerHeartbeat();
  EXPECT_EQ(first.getWorkerId(), 5u);
  EXPECT_GT(first.getTree().size(), 0u);
  node.advance(1s);
  ASSERT_EQ(dispatcher->count(kind::WORKER_HEARTBEAT), 2u);
  EXPECT_EQ(dispatcher->last(kind::WORKER_HEARTBEAT).getWorkerHeartbeat().getTree().size(), 0u)
    << "it did not change";
}

TEST_F(WorkerActor, SaysHowManyElementsATaskLeftOutThoughItReportsNothing) {
  ASSERT_TRUE(order(7).ok());
  tasks[7]->made.ignored = 3;
  node.advance(1s);
  const auto said = dispatcher->last(kind::WORKER_HEARTBEAT).getWorkerHeartbeat().getTasks();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].getIgnored(), 3u);
}

TEST_F(WorkerActor, SendsTheTreeAgainAfterItRegisteredAnew) {
  node.advance(2s);
  lose_the_dispatcher();
  node.advance(2s);
  ASSERT_EQ(dispatcher->count(kind::REGISTER_WORKER), 2u);
  const auto again = dispatcher->last(kind::REGISTER_WORKER).getRegisterWorker();
  EXPECT_EQ(again.getWorkerId(), 5u);
  bool sent = false;
  for (const auto& x : dispatcher->heard)
    if (x->getDispatcher().isRegisterWorker())
      sent = false;
    else if (x->getDispatcher().isWorkerHeartbeat())
      sent = sent || x->getDispatcher().getWorkerHeartbeat().getTree().size() > 0;
  EXPECT_TRUE(sent);
}

TEST_F(WorkerActor, RunsATaskFromItsOrderToItsEnd) {
  ASSERT_TRUE(order(7).ok());
  ASSERT_EQ(tasks[7]->lives.size(), 1u);
  EXPECT_EQ(router->task(task_id{7}), tasks[7]->lives[0]);
  asks(7, 0);
  EXPECT_EQ(dispatcher->last(kind::LEASE_SPLITS).getLeaseSplits().getNumber(), 0u);
  ASSERT_EQ(events<splits_answered>(7).size(), 1u);
  EXPECT_EQ(*events<splits_answered>(7)[0].what, (split_range{10, 5}));
  tasks[7]->made = {.elements = 30, .bytes = 240};
  ends(7);
  const auto end = dispatcher->last(kind::TASK_ENDED).getTaskEnded();
  EXPECT_EQ(end.getTaskId(), 7u);
  EXPECT_EQ(end.getElements(), 30u);
  EXPECT_TRUE(end.getOutcome() == schema::TaskOutcome::EXHAUSTED);
  EXPECT_EQ(tasks[7]->alive, 0u);
  EXPECT_FALSE(router->task(task_id{7}));
}

TEST_F(WorkerActor, RefusesAnOrderWhoseGraphItDoesNotHave) {
  const auto answer =
    node.ask<envelope>(worker, make_envelope(4, [](schema::Envelope::Builder b) {
                         write_task_order(b.initWorker().initStartTask(),
                                          {.id = task_id{7}, .fingerprint = "f"}, buffer{});
                       }));
  ASSERT_TRUE(answer);
  EXPECT_EQ((*answer)->getRequestId(), 4u);
  EXPECT_EQ(status_of(*answer), not_found("task 7: this worker does not have the graph"));
  EXPECT_TRUE(tasks.empty());
}

TEST_F(WorkerActor, AnswersDamagedMessagesWithTheirCount) {
  for (uint64_t i = 1; i <= 2; ++i) {
    const auto answer = node.ask<envelope>(worker, envelope::broken("bent")).value();
    ASSERT_TRUE(answer->isBadMessage());
    EXPECT_EQ(answer->getBadMessage().getCount(), i);
  }
}

TEST_F(WorkerActor, AsksAgainWhenAQuestionIsNotAnsweredWithinALease) {
  ASSERT_TRUE(order(7).ok());
  dispatcher->held_kinds = {kind::LEASE_SPLITS};
  asks(7, 0);
  node.advance(5s);
  EXPECT_EQ(dispatcher->count(kind::LEASE_SPLITS), 2u);
  release();
  EXPECT_EQ(events<splits_answered>(7).size(), 1u);
}

// -- its dispatcher ---------------------------------------------------------------------------

TEST_F(WorkerActor, ReportsADispatcherThatStopsAnsweringAfterItsTimeOutAndOnce) {
  std::vector<status> told;
  node.end(worker);
  options.dispatcher_timeout = 1min;
  options.on_dispatcher_timeout = [&](const status& why) { told.push_back(why); };
  start_worker();
  node.advance(5min);
  EXPECT_TRUE(told.empty()) << "it answers";
  dispatcher->held_kinds = {kind::WORKER_HEARTBEAT, kind::REGISTER_WORKER};
  // The timeout of a minute begins only when a heartbeat has had no answer for the time of a lease.
  // So it has not passed when this first minute ends.
  for (int second = 0; second < 60; ++second) node.advance(1s);
  EXPECT_TRUE(told.empty()) << "it was not silent for so long";
  for (int second = 0; second < 60; ++second) node.advance(1s);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].code(), status_code::deadline_exceeded);
  EXPECT_NE(told[0].message().find("127.0.0.1:1 did not answer for 60 s"), std::string::npos);
}

// -- tasks that crash --------------------------------------------------------------------------

TEST_F(WorkerActor, RunsATaskInAnotherActorWhenOneDies) {
  ASSERT_TRUE(order(7).ok());
  node.end(tasks[7]->lives[0]);
  node.advance(1s);
  ASSERT_EQ(tasks[7]->lives.size(), 2u);
  EXPECT_EQ(router->task(task_id{7}), tasks[7]->lives[1]);
  EXPECT_EQ(dispatcher->count(kind::TASK_ENDED), 0u);
}

TEST_F(WorkerActor, FailsATaskThatIsTornAndItsStreams) {
  ASSERT_TRUE(order(7).ok());
  tasks[7]->torn = true;
  tasks[7]->made.elements = 4;
  node.end(tasks[7]->lives[0]);
  const auto end = dispatcher->last(kind::TASK_ENDED).getTaskEnded();
  EXPECT_EQ(end.getElements(), 4u);
  EXPECT_TRUE(end.getOutcome() == schema::TaskOutcome::FAILED);
  EXPECT_NE(tasks[7]->failed.message().find("midst of a change"), std::string::npos);
  node.advance(5s);
  EXPECT_EQ(tasks[7]->lives.size(), 1u);
}

TEST_F(WorkerActor, FailsATaskThatDiesMoreOftenThanItsBudget) {
  ASSERT_TRUE(order(7).ok());
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(dispatcher->count(kind::TASK_ENDED), 0u);
    node.end(tasks[7]->lives.back());
    node.advance(3s);
  }
  EXPECT_EQ(tasks[7]->lives.size(), 4u);
  EXPECT_EQ(dispatcher->count(kind::TASK_ENDED), 1u);
  EXPECT_FALSE(tasks[7]->failed.ok());
}

TEST_F(WorkerActor, LetsATaskBetweenTwoLivesLeaveToo) {
  ASSERT_TRUE(order(7).ok());
  node.end(tasks[7]->lives[0]);
  leave();
  EXPECT_TRUE(tasks[7]->leaving);
}

// -- every step of a conversation ------------------------------------------------------------

/// The events between a worker, its dispatcher and a task, in order. The dispatcher answers each
/// message in a step of its own, so that a fault can be placed between any two messages.
class WorkerConversation : public WorkerActor {
protected:
  struct step {
    const char* what;
    std::function<void()> happens;
  };

  WorkerConversation() {
    dispatcher->held_kinds = {kind::REGISTER_WORKER, kind::LEASE_SPLITS, kind::TASK_ENDED,
                              kind::LEAVE_SERVICE};
    // The fixture has started a worker, whose registration was answered at once. The answer to the
    // registration of the new worker is held.
    again();
  }
  /// Starts a new life of the worker, as its supervisor does.
  void again() {
    node.end(worker);
    dispatcher->held.clear();
    dispatcher->heard.clear();
    start_worker();
  }

  std::vector<step> conversation() {
    return {
      {"it registers", [] {}},
      {"it is registered", [this] { release(); }},
      {"a task is ordered", [this] { ASSERT_TRUE(order(7).ok()); }},
      {"the task asks", [this] { asks(7, 0); }},
      {"the task is answered", [this] { release(); }},
      {"the task ends", [this] { ends(7); }},
      {"its end is heard", [this] { release(); }},
      {"a second task is ordered", [this] { ASSERT_TRUE(order(8).ok()); }},
      {"the worker is asked to leave", [this] { leave(); }},
      {"the second task ends", [this] { ends(8, {}, task_outcome::left); }},
      {"that end is heard, and it says goodbye", [this] { release(); }},
      {"the goodbye is heard", [this] { release(); }},
    };
  }
  size_t alive_tasks() const {
    return static_cast<size_t>(
      std::ranges::count_if(tasks, [](const auto& x) { return x.second->alive != 0; }));
  }
  /// Checks that the whole conversation took place in the worker's present life.
  void expect_complete() {
    EXPECT_EQ(dispatcher->count(kind::LEASE_SPLITS), 1u);
    EXPECT_EQ(dispatcher->count(kind::TASK_ENDED), 2u);
    EXPECT_TRUE(dispatcher->last(kind::TASK_ENDED).getTaskEnded().getOutcome()
                == schema::TaskOutcome::LEFT);
    EXPECT_EQ(dispatcher->count(kind::LEAVE_SERVICE), 1u);
    EXPECT_EQ(events<splits_answered>(7).size(), 1u);
    EXPECT_EQ(events<worker_leaves>(8).size(), 1u);
    EXPECT_FALSE(alive());
  }
};

TEST_F(WorkerConversation, TakesPlaceWithoutACrash) {
  for (const auto& step : conversation()) step.happens();
  expect_complete();
}

TEST_F(WorkerConversation, TakesPlaceAnewWhereverTheWorkerWasKilled) {
  const auto steps = conversation();
  for (size_t last = 0; last < steps.size(); ++last) {
    SCOPED_TRACE(std::string{"killed after: "} + steps[last].what);
    again();
    for (size_t i = 0; i <= last; ++i) steps[i].happens();
    const auto earlier = dispatcher->last(kind::REGISTER_WORKER).getRegisterWorker();
    const auto life = earlier.getIncarnation();
    const auto before = tasks;
    again();
    for (const auto& [id, task] : before) {
      EXPECT_EQ(task->alive, 0u) << "task " << id << " ended with its worker";
      EXPECT_FALSE(router->task(task_id{id}));
    }
    ASSERT_EQ(dispatcher->count(kind::REGISTER_WORKER), 1u);
    const auto anew = dispatcher->last(kind::REGISTER_WORKER).getRegisterWorker();
    EXPECT_EQ(anew.getWorkerId(), 0u);
    EXPECT_EQ(anew.getTasks().size(), 0u);
    EXPECT_NE(anew.getIncarnation(), life);
    for (const auto& step : steps) step.happens();
    expect_complete();
  }
}

TEST_F(WorkerConversation, GoesOnWhereverATaskWasKilled) {
  const auto steps = conversation();
  for (size_t last = 0; last < steps.size(); ++last) {
    SCOPED_TRACE(std::string{"tasks killed after: "} + steps[last].what);
    again();
    tasks.clear();
    for (size_t i = 0; i < steps.size(); ++i) {
      steps[i].happens();
      if (i != last)
        continue;
      const auto asked = dispatcher->count(kind::LEASE_SPLITS);
      for (const auto& [id, task] : tasks) {
        if (task->alive == 0)
          continue;
        const auto lives = task->lives.size();
        node.end(task->lives.back());
        node.advance(200ms);
        EXPECT_EQ(task->lives.size(), lives + 1) << "task " << id;
        EXPECT_EQ(router->task(task_id{id}), task->lives.back());
        EXPECT_EQ(dispatcher->count(kind::LEASE_SPLITS), asked) << "the question is still there";
      }
    }
    expect_complete();
  }
}

TEST_F(WorkerConversation, GoesOnWhereverTheDispatcherWasKilled) {
  const auto steps = conversation();
  // Only the steps before the worker leaves are tested: a leaving worker without a dispatcher ends
  // when its time to drain is over.
  constexpr size_t until_leaving = 8;
  for (size_t last = 0; last < until_leaving; ++last) {
    SCOPED_TRACE(std::string{"dispatcher killed after: "} + steps[last].what);
    again();
    for (size_t i = 0; i <= last; ++i) steps[i].happens();
    const auto tasks_now = alive_tasks();
    const auto had_registered = last >= 1;
    dispatcher->heard.clear();
    lose_the_dispatcher();
    ASSERT_GE(dispatcher->count(kind::REGISTER_WORKER), 1u);
    const auto anew = dispatcher->last(kind::REGISTER_WORKER).getRegisterWorker();
    EXPECT_EQ(anew.getWorkerId(), had_registered ? 5u : 0u);
    EXPECT_EQ(anew.getTasks().size(), tasks_now);
    dispatcher->held_kinds.clear();
    release();
    if (last == 3) {
      EXPECT_EQ(dispatcher->count(kind::LEASE_SPLITS), 1u) << "asked again";
      EXPECT_EQ(events<splits_answered>(7).size(), 1u);
    }
    node.advance(1s);
    if (last == 5) {
      EXPECT_EQ(dispatcher->count(kind::TASK_ENDED), 1u) << "said again";
    }
    EXPECT_GE(dispatcher->count(kind::WORKER_HEARTBEAT), 1u);
    // The remaining steps must take place as without a fault.
    dispatcher->heard.clear();
    if (last < 2) {
      EXPECT_TRUE(order(7).ok());
    }
    if (last < 3)
      asks(7, 0);
    if (last < 5)
      ends(7);
    if (last < 7) {
      EXPECT_TRUE(order(8).ok());
    }
    leave();
    ends(8, {}, task_outcome::left);
    EXPECT_EQ(dispatcher->count(kind::LEAVE_SERVICE), 1u);
    EXPECT_FALSE(alive());
    dispatcher->held_kinds = {kind::REGISTER_WORKER, kind::LEASE_SPLITS, kind::TASK_ENDED,
                              kind::LEAVE_SERVICE};
  }
}

} // namespace
} // namespace headrace::detail::test
