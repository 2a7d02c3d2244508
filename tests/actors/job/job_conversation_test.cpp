#include "headrace/actors/job/job_actor.hpp"
#include "tests/support/actor_fixture.hpp"

#include <set>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

/// A worker that takes every task and does nothing.
class taking_worker {
public:
  using handle_type = published_actor;
  static inline const char* name = "headrace.test.taking_worker";
  taking_worker(port::self_pointer<handle_type>, std::shared_ptr<std::set<uint64_t>> tasks)
    : tasks_(std::move(tasks)) {}
  port::behavior<handle_type> make_behavior() {
    return {[this](const envelope& in) {
      if (in->getWorker().isStartTask())
        tasks_->insert(in->getWorker().getStartTask().getTaskId());
      return make_ok(in->getRequestId());
    }};
  }

private:
  std::shared_ptr<std::set<uint64_t>> tasks_;
};

/// The messages between a job of 40 splits, a reader and a worker with one task, in order.
class JobConversation : public testing::Test {
protected:
  struct step {
    const char* what;
    std::function<void()> happens;
  };
  ~JobConversation() override {
    node.end(job);
    node.end(worker);
  }

  void begin() {
    if (job)
      node.end(job);
    tasks->clear();
    given.clear();
    number = 0;
    split_plan plan;
    plan.sources = {{.splits = 40, .group = 0}};
    plan.groups = 1;
    about = {.id = job_id{7},
             .name = "train",
             .policy = sharding_policy::dynamic,
             .plan = plan,
             .timing = {1s, 5s},
             .terms = {.gc_timeout = 60s}};
    store = std::make_shared<memory_store<job_record>>(
      job_record{job_id{7}, sharding_policy::dynamic, plan});
    start_job();
  }
  void start_job() {
    job = port::spawn<job_state>(
      node.system, about, store,
      std::vector<worker_change>{
        {{worker_id{1}, incarnation{1}, "host:1", {}, {}, 0}, worker, false}},
      logger{});
    node.dispatch();
  }
  schema::Iteration::Reader open() {
    auto answer = node.ask<envelope>(job, make_envelope(1, [&](schema::Envelope::Builder b) {
                                       b.initDispatcher().initOpenIteration().setConsumerId(1);
                                     }));
    EXPECT_TRUE(answer) << to_string(answer.status());
    last = answer ? *answer : make_ok();
    return last->getDispatcher().getIteration();
  }
  void lease(uint64_t which) {
    ASSERT_EQ(tasks->size(), 1u);
    auto answer = node.ask<envelope>(job, make_envelope(1, [&](schema::Envelope::Builder b) {
                                       auto out = b.initDispatcher().initLeaseSplits();
                                       out.setTaskId(*tasks->begin());
                                       out.setIncarnation(1);
                                       out.setNumber(which);
                                     }));
    ASSERT_TRUE(answer) << to_string(answer.status());
    const auto what = (*answer)->getDispatcher().getSplitsLeased();
    if (what.isExhausted())
      return void(over = true);
    const auto range = what.getRange();
    for (auto i = range.getFirst(); i < range.getFirst() + range.getCount(); ++i)
      given[which].insert(i);
  }
  void rest() {
    for (over = false; !over && number < 100 && !HasFatalFailure();) lease(++number);
    EXPECT_TRUE(over);
  }
  void task_ends() {
    EXPECT_TRUE(node.ask<envelope>(job, make_envelope(1, [&](schema::Envelope::Builder b) {
                                     auto out = b.initDispatcher().initTaskEnded();
                                     out.setTaskId(*tasks->begin());
                                     out.setIncarnation(1);
                                   })));
  }
  std::vector<step> conversation() {
    return {
      {"a reader comes", [this] { EXPECT_FALSE(open().getFinished()); }},
      {"its task asks for splits", [this] { lease(++number); }},
      {"and again", [this] { lease(++number); }},
      {"and for the rest", [this] { rest(); }},
      {"the task ends", [this] { task_ends(); }},
      {"the reader is told that nothing is left", [this] { EXPECT_TRUE(open().getFinished()); }},
    };
  }
  void expect_complete() {
    EXPECT_EQ(tasks->size(), 1u) << "no second task is ordered";
    std::multiset<uint64_t> all;
    for (const auto& [which, splits] : given) all.insert(splits.begin(), splits.end());
    EXPECT_EQ(all.size(), 40u);
    EXPECT_EQ((std::set<uint64_t>{all.begin(), all.end()}.size()), 40u);
  }

  actor_node node;
  std::shared_ptr<std::set<uint64_t>> tasks = std::make_shared<std::set<uint64_t>>();
  published_actor worker = port::spawn<taking_worker>(node.system, tasks);
  job_description about;
  std::shared_ptr<memory_store<job_record>> store;
  job_handle job;
  envelope last = make_ok();
  std::map<uint64_t, std::set<uint64_t>> given; ///< leased splits, by question
  uint64_t number = 0;
  bool over = false;
};

TEST_F(JobConversation, TakesPlaceWithoutACrash) {
  begin();
  for (const auto& step : conversation()) step.happens();
  expect_complete();
}

TEST_F(JobConversation, GoesOnWhereverTheJobWasKilled) {
  const auto steps = conversation();
  for (size_t at = 0; at < steps.size(); ++at) {
    SCOPED_TRACE(std::string{"killed after: "} + steps[at].what);
    begin();
    for (size_t i = 0; i < steps.size(); ++i) {
      steps[i].happens();
      if (i != at)
        continue;
      node.end(job);
      start_job();
      // The task repeats its last question, as if the answer were lost, and gets the same answer.
      if (number != 0 && i < 3) {
        const auto before = given;
        lease(number);
        EXPECT_EQ(given, before);
      }
    }
    expect_complete();
  }
}

} // namespace
} // namespace headrace::detail::test
