#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/message/types.hpp"

#include <caf/io/all.hpp>
#include <caf/io/network/test_multiplexer.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <utility>

namespace headrace::detail::test {

/// One actor system that moves only when the test calls for it: one message at a time, with a clock
/// that the test moves, over a network in memory. It has no thread of its own.
class actor_node {
  struct configuration : caf::actor_system_config {
    explicit configuration(const std::function<void(caf::actor_system_config&)>& more) {
      port::register_types<caf::id_block::headrace_runtime>(*this);
      if (more)
        more(*this);
      load<caf::io::middleman>();
      set("scheduler.policy", port::word("testing"));
      set("middleman.network-backend", port::word("testing"));
      set("middleman.manual-multiplexing", true);
      set("middleman.workers", size_t{0});
    }
  } configuration_;

public:
  caf::actor_system system{configuration_};
  caf::scheduler::test_coordinator& scheduler =
    dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler());
  caf::io::network::test_multiplexer& network =
    dynamic_cast<caf::io::network::test_multiplexer&>(system.middleman().backend());
  /// The test's own mailbox.
  caf::scoped_actor self{system, true};

  /// `more` registers the types of further layers.
  explicit actor_node(const std::function<void(caf::actor_system_config&)>& more = nullptr)
    : configuration_(more) {
    dispatch(); // starts the middleman; otherwise `publish` would wait for ever
  }
  actor_node(const actor_node&) = delete;

  time_point now() { return scheduler.clock().now(); }

  /// Runs one message or one event of the network. Returns false if there was none.
  bool step() {
    return scheduler.try_run_once() || network.try_exec_runnable() || network.read_data()
           || network.try_accept_connection();
  }
  /// Runs all messages and events that are due at the present time of the clock.
  void dispatch() {
    while (step()) {
    }
  }
  /// Moves the clock to each time-out in turn until the given time has passed, and delivers the
  /// messages that are due.
  void advance(duration by) {
    auto end = now() + by;
    auto& clock = scheduler.clock();
    dispatch();
    while (clock.has_pending_timeout() && clock.schedule().begin()->first <= end) {
      scheduler.advance_time(std::max(clock.schedule().begin()->first - now(), duration{0}));
      dispatch();
    }
    if (now() < end)
      scheduler.advance_time(end - now());
    dispatch();
  }

  /// Runs the next message for `to` if its types are `Ts...`. Succeeds if `ok` accepts it, too.
  template <class... Ts, class Handle, class Predicate>
  ::testing::AssertionResult runs(const Handle& to, Predicate ok) {
    auto next = [&]() -> caf::mailbox_element* {
      // An actor that was just spawned is scheduled once without a message.
      while (scheduler.prioritize(to)) {
        if (auto* x = scheduler.next_job<caf::scheduled_actor>().peek_at_next_mailbox_element())
          return x;
        scheduler.run_once();
      }
      return nullptr;
    }();
    if (!next)
      return ::testing::AssertionFailure() << "no message is waiting";
    auto& content = next->content();
    if (!content.template match_elements<Ts...>())
      return ::testing::AssertionFailure() << "next message is " << content.stringify();
    auto matched = std::apply(ok, content.template get_as_tuple<Ts...>());
    scheduler.run_once();
    return matched ? ::testing::AssertionSuccess()
                   : ::testing::AssertionFailure() << "unexpected content";
  }
  template <class... Ts, class Handle>
  ::testing::AssertionResult runs(const Handle& to) {
    return runs<Ts...>(to, [](const auto&...) { return true; });
  }

  /// Sends a request, runs all messages, and returns the answer without blocking.
  template <class T, class Handle, class... Args>
  result<T> ask(const Handle& to, Args&&... xs) {
    auto pending = self->request(to, caf::infinite, std::forward<Args>(xs)...);
    dispatch();
    if (!self->has_next_message())
      return deadline_exceeded("no answer");
    result<T> answer = internal_error("unset");
    pending.receive([&](T& x) { answer = std::move(x); },
                    [&](caf::error& why) { answer = to_status(why); });
    return answer;
  }

  /// Ends an actor and runs the messages that follow.
  template <class Handle>
  void end(const Handle& whom) {
    port::ask_to_exit(whom, caf::exit_reason::kill);
    dispatch();
  }
};

/// Two nodes joined by memory: no socket, no thread.
class actor_network {
public:
  actor_node a;
  actor_node b;

  explicit actor_network(const std::function<void(caf::actor_system_config&)>& more = nullptr)
    : a(more), b(more) {}

  /// Runs all messages and events of both nodes.
  void dispatch() {
    while (a.step() || b.step()) {
    }
  }
  /// Publishes `whom` of node a and returns node b's handle to it. To be called once for a network.
  template <class Handle>
  result<Handle> join(const Handle& whom) {
    using namespace caf::io;
    constexpr uint16_t port = 4242;
    a.network.prepare_connection(accept_handle::from_int(1), connection_handle::from_int(2),
                                 b.network, "a", port, wire_);
    // `publish` and `remote_actor` block the only thread, so what they wait for is run inside them.
    a.scheduler.inline_next_enqueue();
    if (auto bound = a.system.middleman().publish(whom, port); !bound)
      return to_status(bound.error());
    b.scheduler.inline_next_enqueue();
    b.scheduler.after_next_enqueue([this] { dispatch(); });
    auto found = b.system.middleman().template remote_actor<Handle>("a", port);
    if (!found)
      return to_status(found.error());
    return *found;
  }
  /// Ends the connection between the nodes.
  void cut() {
    b.network.impl_ptr(wire_)->io_failure(&b.network, caf::io::network::operation::read);
    dispatch();
  }

private:
  caf::io::connection_handle wire_ = caf::io::connection_handle::from_int(3);
};

} // namespace headrace::detail::test
