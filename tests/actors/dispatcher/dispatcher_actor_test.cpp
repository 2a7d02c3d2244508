#include "headrace/actors/dispatcher/dispatcher_actor.hpp"
#include "headrace/actors/job/job_actor.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "tests/support/actor_fixture.hpp"

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

/// The messages between a dispatcher with its jobs and a client that reads, in order.
class DispatcherConversation : public testing::Test {
protected:
  struct step {
    const char* what;
    std::function<void()> happens;
  };
  using handle = dispatcher_state::handle_type;
  ~DispatcherConversation() override { node.end(dispatcher); }

  void begin() {
    if (dispatcher)
      node.end(dispatcher);
    options.store = std::make_shared<memory_store<service_record>>(service_record{});
    stores.clear();
    start();
  }
  void start() {
    dispatcher = port::spawn<dispatcher_state>(
      node.system, options,
      [this](const job_description& about) -> job_keeper {
        auto& store = stores[about.id];
        if (!store)
          store = std::make_shared<memory_store<job_record>>(job_record{
            about.id, about.policy, about.plan, about.past, 0, about.guarantee, about.reads()});
        return {.start =
                  [this, about, store](const std::vector<worker_change>& present) {
                    return port::spawn<job_state>(node.system, about, store, present, logger{});
                  },
                .left =
                  [store] {
                    const auto record = store->record();
                    return job_remains{record.running(), record.past(), record.has_collected()};
                  },
                .over = [this, id = about.id] { stores.erase(id); }};
      },
      tree_place{nullptr, "node/dispatcher"}, logger{});
    node.dispatch();
  }
  template <class F>
  envelope ask(F&& fill) {
    auto answer = node.ask<envelope>(
      dispatcher, make_envelope(1, [&](schema::Envelope::Builder b) { fill(b.initDispatcher()); }));
    EXPECT_TRUE(answer) << to_string(answer.status());
    return answer ? *answer : make_ok();
  }
  void register_dataset() {
    const auto graph = encode_graph(make_range(0, 10, 1).value()).value();
    const auto answer = ask([&](schema::DispatcherMessage::Builder b) {
      auto out = b.initRegisterDataset();
      out.setDatasetId("d");
      out.setGraph({reinterpret_cast<const kj::byte*>(graph.data()), graph.size()});
      out.setFingerprint({reinterpret_cast<const kj::byte*>("the graph"), 9});
    });
    EXPECT_TRUE(status_of(answer).ok()) << to_string(status_of(answer));
  }
  void get_dataset() {
    const auto answer = ask([](schema::DispatcherMessage::Builder b) { b.setGetDataset("d"); });
    ASSERT_TRUE(status_of(answer).ok()) << to_string(status_of(answer));
    EXPECT_EQ(answer->getDispatcher().getDatasetDef().getFingerprint().size(), 9u);
  }
  /// `known`: the id of the job that the reader reads already.
  envelope open(uint64_t known) {
    return ask([&](schema::DispatcherMessage::Builder b) {
      auto out = b.initOpenIteration();
      out.setConsumerId(++reader);
      out.setDatasetId("d");
      out.setJobId(known);
    });
  }
  void opens() {
    const auto answer = open(0);
    ASSERT_TRUE(status_of(answer).ok()) << to_string(status_of(answer));
    const auto what = answer->getDispatcher().getIteration();
    EXPECT_FALSE(what.getFinished());
    job = what.getJobId();
  }
  status beat() {
    return status_of(ask([&](schema::DispatcherMessage::Builder b) {
      auto out = b.initConsumerHeartbeat();
      out.setConsumerId(reader);
      out.setJobId(job);
    }));
  }
  void leave() {
    ask([&](schema::DispatcherMessage::Builder b) {
      auto out = b.initLeaveIteration();
      out.setConsumerId(reader);
      out.setJobId(job);
    });
  }
  std::vector<step> conversation() {
    return {
      {"a dataset is registered", [this] { register_dataset(); }},
      {"it is asked for", [this] { get_dataset(); }},
      {"a reader comes", [this] { opens(); }},
      {"it is heard of", [this] { EXPECT_TRUE(beat().ok()); }},
      {"it leaves", [this] { leave(); }},
      {"its job is over", [this] { EXPECT_FALSE(beat().ok()); }},
    };
  }

  actor_node node;
  dispatcher_options options;
  handle dispatcher;
  std::map<job_id, std::shared_ptr<fact_store<job_record>>> stores; ///< outlive the dispatcher
  uint64_t reader = 0;
  uint64_t job = 0;
};

TEST_F(DispatcherConversation, TakesPlaceWithoutACrash) {
  begin();
  for (const auto& step : conversation()) step.happens();
}

TEST_F(DispatcherConversation, TakesPlaceAnewWhereverTheDispatcherWasKilled) {
  const auto steps = conversation();
  for (size_t last = 0; last < steps.size(); ++last) {
    SCOPED_TRACE(std::string{"killed after: "} + steps[last].what);
    begin();
    job = 0;
    for (size_t i = 0; i <= last; ++i) steps[i].happens();
    node.end(dispatcher);
    start();
    get_dataset(); // the next dispatcher has the datasets that were registered
    if (job != 0) {
      EXPECT_EQ(beat().ok(), last < 4) << "the job goes on, unless its reader has left";
    }
    const auto before = job;
    for (const auto& step : steps) step.happens();
    EXPECT_NE(job, before) << "no job is taken for another one";
  }
}

} // namespace
} // namespace headrace::detail::test
