#include "headrace/runtime/node/peer.hpp"

#include "headrace/runtime/node/node_metrics.hpp"
#include "tests/runtime/node/echo_actor.hpp"
#include "tests/runtime/process/child_body.hpp"
#include "tests/support/raw_server.hpp"

#include <condition_variable>
#include <csignal>
#include <deque>
#include <gtest/gtest.h>
#include <mutex>
#include <variant>

using namespace headrace;
using namespace headrace::detail;
using namespace headrace::detail::test;
using namespace std::chrono_literals;

namespace {

/// The events of a peer, in order.
class events {
public:
  struct up {
    connection to;
  };
  struct down {
    status why;
  };
  struct failed {
    status why;
    duration pause;
  };
  using event = std::variant<std::monostate, up, down, failed>;

  void put(event x) {
    std::lock_guard guard{mutex_};
    all_.push_back(std::move(x));
    changed_.notify_all();
  }
  /// The next event; empty if there is none in time.
  event take() {
    std::unique_lock lock{mutex_};
    if (!changed_.wait_for(lock, 30s, [&] { return !all_.empty(); }))
      return {};
    auto out = std::move(all_.front());
    all_.pop_front();
    return out;
  }
  /// The next event, if it is of this kind. Failed attempts before it are skipped.
  template <class T>
  std::optional<T> expect() {
    for (;;) {
      auto next = take();
      if (auto* x = std::get_if<T>(&next))
        return *x;
      if (!std::holds_alternative<failed>(next))
        return std::nullopt;
    }
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<event> all_;
};

struct renew {
  status why;
};

/// An actor that owns a peer and records the peer's events.
class owner_state {
public:
  using handle_type = port::handle<caf::result<void>(local<renew>)>;
  static inline const char* name = "headrace.test.owner";

  owner_state(port::self_pointer<handle_type> self, node& at, address to, events& out)
    : watcher_(self),
      peer_(self, watcher_, connector_of(at), std::move(to),
            {.on_up = [&out](const connection& x) { out.put(events::up{x}); },
             .on_down = [&out](const status& why) { out.put(events::down{why}); },
             .on_failed =
               [&out](const status& why, duration pause) {
                 out.put(events::failed{why, pause});
               }},
            {.attempt = 20s, .first_pause = 1ms, .longest_pause = 5ms}) {}
  port::behavior<handle_type> make_behavior() {
    return {[this](const local<renew>& x) { peer_.renew(x->why); }};
  }

private:
  port::watcher watcher_;
  peer peer_;
};

/// A node in a process of its own: prints its port, and serves until it is killed.
const child_body serves{"serves", [](auto& args) {
                          node server{{.actor_port = static_cast<uint16_t>(std::stoi(args.at(0)))}};
                          auto port = listen(server, spawn_echo(server));
                          if (!port) {
                            say(to_string(port.status()));
                            return 1;
                          }
                          say("ready " + std::to_string(*port));
                          wait_for_ever();
                          return 0;
                        }};

std::string port_of(child_process& x) {
  auto line = x.read_until("ready", 30s).value();
  return line.substr(line.rfind(' ') + 1);
}

struct PeerTest : testing::Test {
  events heard; // outlives the actors that write to it
  node here{{.lease = 500ms}};
  owner_state::handle_type keep(const address& to) {
    auto owner = port::spawn<owner_state>(system_of(here), std::ref(here), to, std::ref(heard));
    adopt(here, caf::actor_cast<caf::actor>(owner));
    return owner;
  }
};

TEST_F(PeerTest, FindsAProcessAgainThatWasKilledAndStartedAnew) {
  auto server = serves.start({"0"});
  auto port = port_of(server);
  keep(parse_address("127.0.0.1:" + port).value());
  auto first = heard.expect<events::up>();
  ASSERT_TRUE(first);
  server.kill(SIGKILL);
  auto lost = heard.expect<events::down>();
  ASSERT_TRUE(lost);
  EXPECT_NE(lost->why.message().find(port), std::string::npos) << lost->why.message();
  server = serves.start({port});
  EXPECT_EQ(port_of(server), port);
  auto second = heard.expect<events::up>();
  ASSERT_TRUE(second);
  EXPECT_NE(second->to.peer.node_id, first->to.peer.node_id);
  EXPECT_TRUE(ask(here, second->to.actor, make_ok(1)));
}
TEST_F(PeerTest, NoticesAProcessThatStandsStill) {
  auto server = serves.start({"0"});
  keep(parse_address("127.0.0.1:" + port_of(server)).value());
  ASSERT_TRUE(heard.expect<events::up>());
  server.kill(SIGSTOP);
  EXPECT_TRUE(heard.expect<events::down>());
  server.kill(SIGCONT);
  EXPECT_TRUE(heard.expect<events::up>());
}
TEST_F(PeerTest, KeepsTryingWithGrowingPauses) {
  keep(raw_server{""}.where()); // the server is closed at the end of this statement
  std::vector<duration> pauses;
  for (int i = 0; i < 4; ++i) {
    auto next = heard.take();
    ASSERT_TRUE(std::holds_alternative<events::failed>(next));
    EXPECT_EQ(std::get<events::failed>(next).why.code(), status_code::unavailable);
    pauses.push_back(std::get<events::failed>(next).pause);
  }
  EXPECT_GT(pauses[2], pauses[0]);
}
TEST_F(PeerTest, NoticesThatThePublishedActorEnded) {
  node server;
  auto root = spawn_echo(server);
  ASSERT_TRUE(listen(server, root));
  keep(address_of(server));
  ASSERT_TRUE(heard.expect<events::up>());
  port::ask_to_exit(root);
  ASSERT_TRUE(heard.expect<events::down>());
  ASSERT_TRUE(listen(server, spawn_echo(server)));
  EXPECT_TRUE(heard.expect<events::up>());
}
TEST_F(PeerTest, ConnectsAnewWhenItsOwnerAsks) {
  node server;
  ASSERT_TRUE(listen(server, spawn_echo(server)));
  auto owner = keep(address_of(server));
  ASSERT_TRUE(heard.expect<events::up>());
  port::tell(owner, make_local<renew>(deadline_exceeded("no answer")));
  auto lost = heard.expect<events::down>();
  ASSERT_TRUE(lost);
  EXPECT_NE(lost->why.message().find("no answer"), std::string::npos);
  EXPECT_TRUE(heard.expect<events::up>());
}
TEST_F(PeerTest, IsGreetedOnceForAllActorsOfANodeAndAgainForWhoLostIt) {
  node server;
  ASSERT_TRUE(listen(server, spawn_echo(server)));
  keep(address_of(server));
  ASSERT_TRUE(heard.expect<events::up>());
  auto other = keep(address_of(server));
  ASSERT_TRUE(heard.expect<events::up>());
  EXPECT_EQ(server.metrics()->count(node_metric::hellos), 1u);
  port::tell(other, make_local<renew>(deadline_exceeded("no answer")));
  ASSERT_TRUE(heard.expect<events::down>());
  ASSERT_TRUE(heard.expect<events::up>());
  EXPECT_EQ(server.metrics()->count(node_metric::hellos), 2u);
}
TEST_F(PeerTest, GoesWithItsOwner) {
  node server;
  ASSERT_TRUE(listen(server, spawn_echo(server)));
  auto owner = keep(address_of(server));
  ASSERT_TRUE(heard.expect<events::up>());
  caf::scoped_actor self{system_of(here)};
  self->monitor(owner);
  port::ask_to_exit(owner);
  owner = nullptr;
  self->receive([](const caf::down_msg&) {});
}

} // namespace
