#pragma once

#include "headrace/actors/consumer/consumer_state.hpp"
#include "headrace/actors/protocol/codec/timing_codec.hpp"
#include "headrace/schemas/failure_codec.hpp"
#include "tests/actors/scripted_connector.hpp"
#include "tests/support/actor_fixture.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <vector>

namespace headrace::detail::test {

/// Returns the scripted dispatcher's answer to an `openIteration`. The arguments are this message
/// and the request's id.
using reply = std::function<caf::result<envelope>(schema::OpenIteration::Reader, uint64_t)>;

/// The state of a `scripted_dispatcher`: the jobs that were requested, and its next answer.
struct script {
  std::vector<uint64_t> asked;
  reply next;
};

class scripted_dispatcher {
public:
  using handle_type = published_actor;
  static inline const char* name = "headrace.test.dispatcher";
  scripted_dispatcher(port::self_pointer<handle_type>, std::shared_ptr<script> what)
    : what_(std::move(what)) {}
  port::behavior<handle_type> make_behavior() {
    return {[this](const envelope& in) -> caf::result<envelope> {
      if (!in->getDispatcher().isOpenIteration())
        return make_ok(in->getRequestId());
      const auto wanted = in->getDispatcher().getOpenIteration();
      what_->asked.push_back(wanted.getJobId());
      return what_->next(wanted, in->getRequestId());
    }};
  }

private:
  std::shared_ptr<script> what_;
};

inline reply job(uint64_t id, const status& failure = {}) {
  return [=](schema::OpenIteration::Reader, uint64_t request) -> caf::result<envelope> {
    return make_envelope(request, [&](schema::Envelope::Builder b) {
      auto out = b.initDispatcher().initIteration();
      out.setJobId(id);
      out.setVersion(failure.ok() ? 1 : std::numeric_limits<uint64_t>::max());
      write_timing(out.initTiming(), {std::chrono::seconds{1}, std::chrono::seconds{5}});
      if (!failure.ok())
        write_failure(out.initFailure().initFailed(), failure);
    });
  };
}
inline reply refuses(const status& why) {
  return [=](schema::OpenIteration::Reader, uint64_t request) -> caf::result<envelope> {
    return make_failure(why, request);
  };
}
/// The reaction of a job that ends before it answers.
inline reply dies() {
  return [](schema::OpenIteration::Reader, uint64_t) -> caf::result<envelope> {
    return caf::make_error(caf::sec::request_receiver_down);
  };
}

class ConsumerActor : public testing::Test {
protected:
  ConsumerActor() { start_dispatcher(); }
  ~ConsumerActor() override {
    port::ask_to_exit(consumer);
    port::ask_to_exit(*where);
    port::ask_to_exit(connector);
    node.dispatch();
  }
  void start_dispatcher() { *where = port::spawn<scripted_dispatcher>(node.system, dispatcher); }
  void start() {
    memory = std::make_shared<consumer_memory>();
    consumer = port::spawn<consumer_state>(node.system, memory, options,
                                           parse_address("127.0.0.1:1").value(), connector, links,
                                           out, logger{});
    node.dispatch();
  }
  void lose_the_dispatcher() {
    port::ask_to_exit(*where);
    start_dispatcher();
    node.dispatch();
    node.advance(std::chrono::seconds{3});
  }
  /// The error that the trainer gets; ok: none yet.
  status failure() {
    status how;
    std::shared_ptr<const block> rows;
    return out->try_next(rows, how) == handout::outcome::over ? how : status{};
  }

  actor_node node;
  std::shared_ptr<script> dispatcher = std::make_shared<script>();
  std::shared_ptr<published_actor> where = std::make_shared<published_actor>();
  connector_actor connector = port::spawn<scripted_connector>(node.system, where);
  std::shared_ptr<handout> out = std::make_shared<handout>([] {});
  consumer_options options{.dataset_id = "d", .worker_timeout = std::chrono::seconds{10}};
  std::shared_ptr<link_pool> links = std::make_shared<link_pool>(nullptr);
  std::shared_ptr<consumer_memory> memory; ///< the memory of `consumer`
  consumer_handle consumer;
};

} // namespace headrace::detail::test
