#pragma once

#include "headrace/actors/protocol/codec/registration_codec.hpp"
#include "headrace/actors/protocol/codec/splits_codec.hpp"
#include "headrace/actors/protocol/codec/task_codec.hpp"
#include "headrace/actors/worker/worker_actor.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "tests/actors/scripted_connector.hpp"
#include "tests/support/actor_fixture.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace headrace::detail::test {

/// A dispatcher that records the messages of a worker, and answers them at once or later.
struct worker_script {
  using kind = schema::DispatcherMessage::Which;
  struct held_back {
    envelope what;
    caf::typed_response_promise<envelope> answer;
  };

  std::vector<envelope> heard;
  std::set<kind> held_kinds; ///< messages of these kinds are answered when the test releases them
  std::vector<held_back> held;

  static envelope reply(const envelope& to) {
    const auto id = to->getRequestId();
    return make_envelope(id, [&](schema::Envelope::Builder b) {
      switch (to->getDispatcher().which()) {
      case kind::REGISTER_WORKER:
        return write_registered(b.initDispatcher().initWorkerRegistered(),
                                {worker_id{5}, {std::chrono::seconds{1}, std::chrono::seconds{5}}});
      case kind::LEASE_SPLITS:
        return write_splits_answer(b.initDispatcher().initSplitsLeased(), split_range{10, 5});
      default: b.setOk();
      }
    });
  }
  size_t count(kind which) const {
    return static_cast<size_t>(std::count_if(heard.begin(), heard.end(), [&](const envelope& x) {
      return x->getDispatcher().which() == which;
    }));
  }
  /// The last message of that kind. @pre there is such a message
  schema::DispatcherMessage::Reader last(kind which) const {
    for (auto at = heard.rbegin(); at != heard.rend(); ++at)
      if ((*at)->getDispatcher().which() == which)
        return (*at)->getDispatcher();
    throw std::logic_error{"no such message was heard"};
  }
};

/// The dispatcher's actor for a `worker_script`. When the test sends it an envelope `ok`, it
/// answers the messages that are held.
class worker_dispatcher {
public:
  using handle_type = published_actor;
  static inline const char* name = "headrace.test.worker_dispatcher";
  worker_dispatcher(port::self_pointer<handle_type> self, std::shared_ptr<worker_script> what)
    : self_(self), what_(std::move(what)) {}
  port::behavior<handle_type> make_behavior() {
    return {[this](const envelope& in) -> caf::result<envelope> {
      if (in->isOk()) {
        for (auto& [what, answer] : std::exchange(what_->held, {}))
          answer.deliver(worker_script::reply(what));
        return make_ok();
      }
      what_->heard.push_back(in);
      if (!what_->held_kinds.contains(in->getDispatcher().which()))
        return worker_script::reply(in);
      auto answer = self_->make_response_promise<envelope>();
      what_->held.push_back({in, answer});
      return answer;
    }};
  }

private:
  port::self_pointer<handle_type> self_;
  std::shared_ptr<worker_script> what_;
};

/// A task whose events are recorded for the tests of a worker.
struct seen_task {
  task_order order;
  std::vector<task_handle> lives;
  size_t alive = 0;
  std::vector<task_event> events; ///< the events of all lives
  task_numbers made;
  bool torn = false;
  bool leaving = false; ///< the worker left while no actor of the task ran
  task_readers readers; ///< the readers that were named while no actor of the task ran
  status failed;        ///< the error that was sent to the task's consumers
};

class seen_task_actor {
public:
  using handle_type = task_handle;
  static inline const char* name = "headrace.test.task";
  seen_task_actor(port::self_pointer<handle_type> self, std::shared_ptr<seen_task> what)
    : self_(self), what_(std::move(what)) {
    ++what_->alive;
  }
  ~seen_task_actor() { --what_->alive; }
  port::behavior<handle_type> make_behavior() {
    return {
      [this](const local<task_event>& x) {
        what_->events.push_back(*x);
        if (std::holds_alternative<task_stops>(*x))
          self_->quit();
      },
      [](atom::deadline, uint64_t) {},
      [](atom::supervise, uint64_t) {},
    };
  }

private:
  port::self_pointer<handle_type> self_;
  std::shared_ptr<seen_task> what_;
};

class hosted_seen_task final : public hosted_task {
public:
  explicit hosted_seen_task(std::shared_ptr<seen_task> what) : what_(std::move(what)) {}
  task_handle run(caf::actor_system& system, const worker_handle&, const tree_place&,
                  const logger&) override {
    auto fresh = port::spawn<seen_task_actor>(system, what_);
    what_->lives.push_back(fresh);
    return fresh;
  }
  uint64_t ignored() const override { return what_->made.ignored; }
  std::vector<operator_activity> operators(time_point) const override { return {}; }
  bool torn() const override { return what_->torn; }
  task_numbers made() const override { return what_->made; }
  void leave() override { what_->leaving = true; }
  void name_readers(const task_readers& who) override { what_->readers = who; }
  void fail_streams(const status& why) override { what_->failed = why; }

private:
  std::shared_ptr<seen_task> what_;
};

/// A worker among a scripted dispatcher and scripted tasks.
class WorkerActor : public testing::Test {
protected:
  using kind = worker_script::kind;

  WorkerActor() {
    start_dispatcher();
    start_worker();
  }
  ~WorkerActor() override {
    node.end(worker);
    dispatcher->held.clear();
    tasks.clear();
    if (*where)
      node.end(*where);
    node.end(connector);
  }

  void start_dispatcher() { *where = port::spawn<worker_dispatcher>(node.system, dispatcher); }
  void start_worker() {
    worker = port::spawn<worker_state>(
      node.system, options, parse_address("127.0.0.1:1").value(), connector, router,
      [this](const task_order& order, const dataset_ptr&) {
        auto& fresh = tasks[order.id.value];
        fresh = std::make_shared<seen_task>();
        fresh->order = order;
        return std::make_unique<hosted_seen_task>(fresh);
      },
      tree_place{nullptr, "node/worker"}, logger{});
    node.dispatch();
  }
  /// Kills the dispatcher's actor and starts another one. The scripted connector connects the
  /// worker to the new actor at once.
  void lose_the_dispatcher() {
    port::ask_to_exit(*where, caf::exit_reason::kill);
    dispatcher->held.clear();
    start_dispatcher();
    node.dispatch();
  }

  /// The dispatcher answers the messages that it holds.
  void release() {
    port::tell(*where, make_ok());
    node.dispatch();
  }

  status order(uint64_t id) {
    const auto answer =
      node.ask<envelope>(worker, make_envelope(1, [&](schema::Envelope::Builder b) {
                           write_task_order(b.initWorker().initStartTask(),
                                            {.id = task_id{id},
                                             .life = incarnation{3},
                                             .job = job_id{70},
                                             .policy = sharding_policy::dynamic},
                                            encode_graph(make_range(0, 10, 1).value()).value());
                         }));
    return answer ? status_of(*answer) : answer.status();
  }
  status stop(uint64_t id) {
    const auto answer = node.ask<envelope>(worker, make_stop_order(task_id{id}, "over"));
    return answer ? status_of(*answer) : answer.status();
  }
  task_report report_of(uint64_t id) const {
    return {.id = task_id{id},
            .life = incarnation{3},
            .job = job_id{70},
            .numbers = tasks.at(id)->made,
            .wants = {}};
  }
  void say(const task_report& what) {
    port::tell(worker, make_local<task_report>(what));
    node.dispatch();
  }
  void asks(uint64_t id, uint64_t number) {
    auto what = report_of(id);
    what.wants = splits_wanted{1, {.which = {0, 0, number}}};
    say(what);
  }
  /// The task reports that it has ended, and its actor ends.
  void ends(uint64_t id, const status& how = {}, task_outcome outcome = task_outcome::exhausted) {
    auto what = report_of(id);
    what.ended = how;
    what.outcome = outcome;
    say(what);
    port::ask_to_exit(tasks.at(id)->lives.back());
    node.dispatch();
  }
  template <class Event>
  std::vector<Event> events(uint64_t id) const {
    std::vector<Event> out;
    for (const auto& x : tasks.at(id)->events)
      if (const auto* event = std::get_if<Event>(&x))
        out.push_back(*event);
    return out;
  }
  void leave() {
    port::ask_to_exit(worker);
    node.dispatch();
  }
  bool alive() { return stop(0).ok(); }

  actor_node node;
  std::shared_ptr<worker_script> dispatcher = std::make_shared<worker_script>();
  std::shared_ptr<published_actor> where = std::make_shared<published_actor>();
  connector_actor connector = port::spawn<scripted_connector>(node.system, where);
  std::shared_ptr<stream_router> router = std::make_shared<stream_router>();
  std::map<uint64_t, std::shared_ptr<seen_task>> tasks;
  worker_options options;
  worker_handle worker;
};

} // namespace headrace::detail::test
