#include "headrace/actors/task/task_actor.hpp"

#include "headrace/actors/protocol/codec/stream_codec.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "tests/actors/consumer/scripted_link.hpp"
#include "tests/actors/stream/stream_world.hpp"
#include "tests/support/actor_fixture.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

/// Blocks the runners' threads until it is released, so that they send nothing: the test takes the
/// place of the runner.
struct task_gate {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;
  void pass() {
    std::unique_lock lock{mutex};
    changed.wait(lock, [this] { return open; });
  }
  void release() {
    std::lock_guard lock{mutex};
    open = true;
    changed.notify_all();
  }
};

/// A worker that records the reports of its task.
class reported_worker {
public:
  using handle_type = worker_handle;
  static inline const char* name = "headrace.test.reported_worker";
  reported_worker(port::self_pointer<handle_type>, std::shared_ptr<std::vector<task_report>> what)
    : what_(std::move(what)) {}
  port::behavior<handle_type> make_behavior() {
    return {
      [](const envelope& in) -> caf::result<envelope> { return make_ok(in->getRequestId()); },
      [this](const local<task_report>& x) { what_->push_back(*x); },
      [](const local<save_report>&) {},
      [](atom::deadline, uint64_t) {},
      [](atom::supervise, uint64_t) {},
    };
  }

private:
  std::shared_ptr<std::vector<task_report>> what_;
};

/// A task and its only consumer; the test takes the place of the consumer and of the runner.
class TaskConversation : public testing::Test {
protected:
  struct step {
    const char* what;
    std::function<void()> happens;
  };

  TaskConversation() {
    surroundings.find_function = [gate = gate](const function_reference&) -> named_function {
      gate->pass();
      return {};
    };
  }
  ~TaskConversation() override {
    node.end(task);
    node.end(parent);
    memory.reset();
    surroundings.find_function = {};
    gate->release();
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    while (gate.use_count() > 1 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    EXPECT_EQ(gate.use_count(), 1) << "a runner's thread goes on";
  }

  static dataset_ptr graph() {
    auto in = make_range(0, 1000, 1).value();
    auto body = std::make_shared<function>();
    body->named = {"f"};
    body->argument = body->declared = in->spec;
    return make_map(std::move(in), body).value();
  }
  void begin() {
    memory = std::make_shared<task_memory>(
      task_core{{.id = task_id{7},
                 .life = incarnation{1},
                 .job = job_id{3},
                 .policy = sharding_policy::dynamic,
                 .readers = {.task = task_id{7}, .consumers = {consumer_id{5}}}},
                graph(),
                {},
                logger{}});
    at = std::make_shared<scripted_link>();
    reports->clear();
    got.clear();
    end.reset();
    seen = 0;
    start_task();
  }
  void start_task() {
    task = port::spawn<task_state>(node.system, memory, surroundings, parent,
                                   tree_place{nullptr, "node/worker/task 7"}, logger{});
    node.dispatch();
  }
  void happens(task_event what) {
    port::tell(task, make_local<task_event>(std::move(what)));
    node.dispatch();
    listen();
  }
  /// The first runner of the present actor produces rows.
  void produces(block rows) {
    deal_rows(*memory, memory->actor, 1, std::move(rows), {});
    node.dispatch();
    listen();
  }
  void say(const from_consumer& what) { happens(stream_arrived{at, write_message(channel, what)}); }
  void open() {
    ++channel;
    say(stream_open{.task = task_id{7},
                    .life = incarnation{1},
                    .consumer = consumer_id{5},
                    .received = got.size(),
                    .handed_out = handed_out()});
    grant();
  }
  void grant() {
    say(stream_grant{.handed_out = handed_out(), .elements = 1000, .bytes = 1 << 20});
  }
  uint64_t handed_out() const { return all_taken ? got.size() : 0; }
  /// Receives the messages that the task has sent since the last call. If the task refused the
  /// stream, `reopens` is set.
  void listen() {
    while (seen < at->sent.size()) {
      const auto what = at->sent[seen++];
      if (what.channel != channel)
        continue;
      const auto said = read_from_task(what, {tensor_spec{dtype::int64, shape{}}});
      ASSERT_TRUE(said) << to_string(said.status());
      if (const auto* rows = std::get_if<stream_block>(&*said)) {
        ASSERT_EQ(rows->first, got.size());
        for (auto x : rows->rows.columns[0].values<int64_t>()) got.push_back(x);
      } else if (const auto* over = std::get_if<stream_end>(&*said)) {
        end = *over;
      } else if (const auto* failed = std::get_if<stream_failed>(&*said)) {
        EXPECT_EQ(failed->why.code(), status_code::not_found) << to_string(failed->why);
        reopens = true;
      }
    }
  }
  std::vector<step> conversation() {
    return {
      {"a consumer opens its stream", [this] { open(); }},
      {"the runner makes rows", [this] { produces(headrace::detail::numbers(0, 5)); }},
      {"the trainer takes them",
       [this] {
         all_taken = true;
         grant();
       }},
      {"the runner makes more", [this] { produces(headrace::detail::numbers(5, 3)); }},
      {"the runner is through",
       [this] {
         happens(run_ended{1, {}});
       }},
      {"the trainer takes the rest", [this] { grant(); }},
    };
  }
  void expect_complete() {
    std::vector<int64_t> all(8);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(got, all);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->elements, 8u);
    EXPECT_EQ(end->outcome, task_outcome::exhausted);
    ASSERT_FALSE(reports->empty());
    EXPECT_TRUE(reports->back().ended.has_value());
    EXPECT_EQ(reports->back().outcome, task_outcome::exhausted);
    EXPECT_TRUE(memory->core.over());
  }

  actor_node node;
  std::shared_ptr<task_gate> gate = std::make_shared<task_gate>();
  task_surroundings surroundings;
  std::shared_ptr<std::vector<task_report>> reports = std::make_shared<std::vector<task_report>>();
  worker_handle parent = port::spawn<reported_worker>(node.system, reports);
  std::shared_ptr<task_memory> memory;
  task_handle task;
  std::shared_ptr<scripted_link> at;
  uint32_t channel = 0;
  size_t seen = 0;
  bool all_taken = false;
  bool reopens = false;
  std::vector<int64_t> got;
  std::optional<stream_end> end;
};

TEST_F(TaskConversation, TakesPlaceWithoutACrash) {
  begin();
  for (const auto& step : conversation()) step.happens();
  expect_complete();
}

TEST_F(TaskConversation, GoesOnWhereverTheTaskWasKilled) {
  const auto steps = conversation();
  for (size_t last = 0; last + 1 < steps.size(); ++last) {
    SCOPED_TRACE(std::string{"killed after: "} + steps[last].what);
    all_taken = reopens = false;
    begin();
    for (size_t i = 0; i < steps.size(); ++i) {
      steps[i].happens();
      if (i != last)
        continue;
      node.end(task);
      start_task();
      listen();
      EXPECT_TRUE(reopens) << "its consumer is told to open its stream again";
      open();
    }
    expect_complete();
    node.end(task);
  }
}

} // namespace
} // namespace headrace::detail::test
