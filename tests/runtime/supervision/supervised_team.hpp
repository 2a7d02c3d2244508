#pragma once

#include "headrace/runtime/supervision/supervisor.hpp"

#include "tests/support/actor_fixture.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace headrace::detail::supervisor_test {

/// A command to a child: crash with this status (ok: quit normally), or ignore requests to stop.
struct order {
  status crash;
  bool deafen = false;
};
/// A function that a parent calls with its supervisor.
using team_call = std::function<void(supervisor&)>;

} // namespace headrace::detail::supervisor_test

// clang-format off
CAF_BEGIN_TYPE_ID_BLOCK(supervisor_test, headrace::detail::tests_first_type_id)
  CAF_ADD_TYPE_ID(supervisor_test, (headrace::local<headrace::detail::supervisor_test::order>))
  CAF_ADD_TYPE_ID(supervisor_test, (headrace::local<headrace::detail::supervisor_test::team_call>))
CAF_END_TYPE_ID_BLOCK(supervisor_test)
// clang-format on

namespace headrace::detail::supervisor_test {

using child_actor = port::handle<caf::result<void>(local<order>)>;

/// The actions of the children of one test, in order.
struct diary {
  std::vector<std::string> lines;
  std::vector<std::string> taken() { return std::exchange(lines, {}); }
};

class child_state {
public:
  using handle_type = child_actor;
  static inline const char* name = "test.child";
  child_state(port::self_pointer<handle_type> self, std::string id, diary* log)
    : self_(self), id_(std::move(id)), log_(log) {
    log_->lines.push_back("+" + id_);
  }
  ~child_state() { log_->lines.push_back("-" + id_); }
  port::behavior<handle_type> make_behavior() {
    return {[this](const local<order>& x) {
      if (x->deafen)
        return self_->set_exit_handler([](caf::exit_msg&) {});
      if (x->crash.ok())
        return self_->quit();
      throw error{x->crash};
    }};
  }

private:
  port::self_pointer<handle_type> self_;
  std::string id_;
  diary* log_;
};

using parent_actor =
  port::handle<caf::result<void>(atom::supervise, uint64_t), caf::result<void>(local<team_call>)>;

struct parent_options {
  supervision_options supervision;
  std::vector<std::string> children;
  diary* log = nullptr;
  std::shared_ptr<supervision_board> board;
  supervisor::observer observer;
};

/// An actor that supervises children.
class parent_state {
public:
  using handle_type = parent_actor;
  static inline const char* name = "test.parent";
  parent_state(port::self_pointer<handle_type> self, parent_options options)
    : watcher_(self), team_(self, watcher_, options.supervision, options.observer, options.board) {
    for (auto& id : options.children) {
      auto added = team_.add(
        {.id = id, .shutdown = std::chrono::seconds{2}}, [self, id, log = options.log](uint64_t) {
          return caf::actor_cast<caf::actor>(port::spawn<child_state>(self->system(), id, log));
        });
      EXPECT_TRUE(added.ok()) << to_string(added);
    }
  }
  port::behavior<handle_type> make_behavior() {
    return {
      [this](atom::supervise, uint64_t epoch) { team_.timer(epoch); },
      [this](const local<team_call>& f) { (*f)(team_); },
    };
  }

private:
  port::watcher watcher_;
  supervisor team_;
};

/// A parent with children under the virtual clock.
class SupervisorActor : public testing::Test {
protected:
  void start(supervision_strategy strategy, uint32_t max_restarts = 3) {
    options.supervision = {.path = "node",
                           .strategy = strategy,
                           .max_restarts = max_restarts,
                           .within = std::chrono::seconds{10},
                           .backoff = {.first = std::chrono::milliseconds{100},
                                       .longest = std::chrono::seconds{1},
                                       .jitter = 0}};
    options.log = &log;
    options.board = board;
    if (options.children.empty())
      options.children = {"a", "b", "c"};
    parent = port::spawn<parent_state>(node.system, options);
    node.dispatch();
    EXPECT_EQ(log.taken().size(), options.children.size());
  }
  void with_team(team_call f) {
    port::tell(parent, local<team_call>{std::move(f)});
    node.dispatch();
  }
  child_actor child(const std::string& id) {
    child_actor found;
    with_team([&](supervisor& team) { found = team.find<child_actor>(id); });
    return found;
  }
  void order_to(const std::string& id, order x) {
    port::tell(child(id), local<order>{std::move(x)});
    node.dispatch();
  }
  void crash(const std::string& id) { order_to(id, {internal_error("division by zero")}); }
  void TearDown() override {
    node.end(parent);
    // All actors have ended, except the actor of the test's own mailbox.
    EXPECT_EQ(node.system.registry().running(), 1u);
  }
  using lines = std::vector<std::string>;

  diary log;
  std::shared_ptr<supervision_board> board = std::make_shared<supervision_board>();
  test::actor_node node{port::register_types<caf::id_block::supervisor_test>};
  parent_options options;
  parent_actor parent;
};

} // namespace headrace::detail::supervisor_test
