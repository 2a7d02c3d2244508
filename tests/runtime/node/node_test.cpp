#include "headrace/runtime/node/node.hpp"

#include "headrace/runtime/node/node_config.hpp"
#include "headrace/runtime/node/node_metrics.hpp"
#include "headrace/runtime/node/peer.hpp"

#include "tests/runtime/node/echo_actor.hpp"
#include "tests/runtime/process/child_body.hpp"
#include "tests/support/raw_server.hpp"
#include "tests/support/stranger.hpp"

#include <atomic>
#include <caf/io/middleman.hpp>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

using namespace headrace;
using namespace headrace::detail;
using namespace headrace::detail::test;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

/// An actor that sends itself a message for each one that it gets, until the test is over.
class busy_state {
public:
  using handle_type = published_actor;
  static inline const char* name = "headrace.test.busy";

  busy_state(port::self_pointer<handle_type> self, const std::atomic<bool>& over)
    : self_(self), over_(over) {}
  port::behavior<handle_type> make_behavior() {
    return {[this](const envelope& in) {
      if (!over_)
        port::tell(published_actor{self_}, in);
      return make_ok(1);
    }};
  }

private:
  port::self_pointer<handle_type> self_;
  const std::atomic<bool>& over_;
};

TEST(NodeTest, ConnectsToAnotherAndLearnsWhoItIs) {
  node server{{.role = node_role::dispatcher}}, client;
  ASSERT_TRUE(listen(server, spawn_echo(server)));
  auto made = connect(client, address_of(server));
  ASSERT_TRUE(made) << to_string(made.status());
  EXPECT_EQ(made->peer.node_id, server.id());
  EXPECT_EQ(made->peer.role, schema::Role::DISPATCHER);
  EXPECT_THAT(made->peer.name, StartsWith("dispatcher "));
  auto answer = ask(client, made->actor, make_ok(5));
  ASSERT_TRUE(answer) << to_string(answer.status());
  EXPECT_TRUE((*answer)->isOk());
  EXPECT_EQ((*answer)->getRequestId(), 5u);
  EXPECT_EQ(server.metrics()->count(node_metric::hellos), 1u);
}
TEST(NodeTest, GivesTheSameActorToEveryoneWhoConnects) {
  node server, client;
  ASSERT_TRUE(listen(server, spawn_echo(server)));
  auto first = connect(client, address_of(server)).value();
  auto second = connect(client, address_of(server)).value();
  EXPECT_EQ(first.actor, second.actor);
  EXPECT_EQ(server.metrics()->count(node_metric::hellos), 2u);
}
TEST(NodeTest, GreetsAnotherOnceForAllWhoDoNotAskForMore) {
  node server, client;
  ASSERT_TRUE(listen(server, spawn_echo(server)));
  const auto first = connect(client, address_of(server), 20s, greeting::once).value();
  const auto second = connect(client, address_of(server), 20s, greeting::once).value();
  EXPECT_EQ(first.actor, second.actor);
  EXPECT_EQ(first.peer.node_id, second.peer.node_id);
  EXPECT_EQ(server.metrics()->count(node_metric::hellos), 1u);
  ASSERT_TRUE(connect(client, address_of(server), 20s, greeting::anew));
  EXPECT_EQ(server.metrics()->count(node_metric::hellos), 2u);
}
TEST(NodeTest, TellsWhyARequestFailed) {
  node server, client;
  ASSERT_TRUE(listen(server, spawn_echo(server)));
  auto made = connect(client, address_of(server)).value();
  EXPECT_EQ(ask(client, made.actor, envelope{}).status().code(), status_code::data_loss);
  EXPECT_THAT(ask(client, made.actor, make_ok(crash_request)).status().message(),
              HasSubstr("crash on demand"));
}
TEST(NodeTest, ConnectsHoweverManyNodesAProcessHasHad) {
  node server;
  ASSERT_TRUE(listen(server, spawn_echo(server)));
  // CAF itself would give the 256th node after the first one the name of the first one.
  for (int i = 0; i < 255; ++i) node{};
  node client;
  EXPECT_NE(system_of(client).node(), system_of(server).node());
  auto made = connect(client, address_of(server));
  EXPECT_TRUE(made) << to_string(made.status());
}
TEST(NodeTest, LetsOtherActorsRunWhereOneHasMessagesAllTheTime) {
  std::atomic<bool> over{false};
  node here{{.threads = 1}};
  port::tell(port::spawn<busy_state>(system_of(here), std::cref(over)), make_ok(1));
  const auto answer = ask(here, spawn_echo(here), make_ok(5));
  EXPECT_TRUE(answer) << to_string(answer.status());
  over = true;
}
TEST(NodeTest, ConnectsToItself) {
  node self;
  ASSERT_TRUE(listen(self, spawn_echo(self)));
  EXPECT_TRUE(connect(self, address_of(self)));
}
TEST(NodeTest, CountsAndAnswersDamagedMessages) {
  node server, client;
  ASSERT_TRUE(listen(server, spawn_echo(server)));
  auto made = connect(client, address_of(server)).value();
  for (uint64_t i = 1; i <= 2; ++i) {
    auto answer = ask_raw(client, made.actor, envelope{}).value();
    ASSERT_TRUE(answer->isBadMessage());
    EXPECT_EQ(answer->getBadMessage().getCount(), i);
    EXPECT_EQ(status_of(answer).code(), status_code::data_loss);
  }
  EXPECT_EQ(server.metrics()->count(node_metric::bad_messages), 2u);
  EXPECT_TRUE(ask(client, made.actor, make_ok())) << "others are not hurt";
}
TEST(NodeTest, RefusesMessagesOfAnotherMajorVersion) {
  node server, client;
  ASSERT_TRUE(listen(server, spawn_echo(server)));
  auto made = connect(client, address_of(server)).value();
  auto answer = ask_raw(client, made.actor, envelope::make([](schema::Envelope::Builder b) {
                          b.getVersion().setMajor(7);
                          b.setOk();
                        }))
                  .value();
  EXPECT_EQ(status_of(answer).code(), status_code::failed_precondition);
  auto hi = ask_raw(client, made.actor, make_hello({.version = {7, 0}}, 1)).value();
  EXPECT_TRUE(hi->isHelloAck()) << "so that the other side can name both versions";
  EXPECT_EQ(server.metrics()->count(node_metric::refused_hellos), 1u);
}
TEST(NodeTest, NamesBothVersionsWhenTheMajorOnesDiffer) {
  node server, client;
  auto stranger = port::spawn<stranger_state>(system_of(server));
  adopt(server, caf::actor_cast<caf::actor>(stranger));
  auto port = system_of(server).middleman().publish(stranger, 0, "127.0.0.1", true);
  ASSERT_TRUE(port);
  auto made = connect(client, {"", "127.0.0.1", *port});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.status().code(), status_code::failed_precondition);
  EXPECT_THAT(made.status().message(), AllOf(HasSubstr("9.3"), HasSubstr("2.0")));
}
TEST(NodeTest, SaysThatNobodyListens) {
  node client;
  address nowhere = raw_server{""}.where(); // the server is closed at the end of this statement
  auto made = connect(client, nowhere, 20s);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.status().code(), status_code::unavailable);
  EXPECT_THAT(made.status().message(), HasSubstr("nobody listens at " + to_string(nowhere)));
}
TEST(NodeTest, SaysThatAHostDoesNotExist) {
  node client;
  auto made = connect(client, {"", "no-such-host.invalid", 1}, 20s);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.status().message(), HasSubstr("no-such-host.invalid:1"));
}
TEST(NodeTest, SaysThatSomethingElseListens) {
  node client;
  raw_server http{"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"};
  auto made = connect(client, http.where(), 20s);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.status().message(),
              AllOf(HasSubstr("something else listens"), HasSubstr("HTTP/1.1 400")));
}
TEST(NodeTest, EndsAttemptsAtASilentServerInTime) {
  node client;
  raw_server silent{""};
  auto made = connect(client, silent.where(), 50ms);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.status().code(), status_code::deadline_exceeded);
  EXPECT_THAT(made.status().message(), HasSubstr("within 50 ms"));
}
TEST(NodeTest, GivesUpAttemptsWhenItEnds) {
  raw_server silent{""};
  caf::error seen;
  {
    node client;
    caf::scoped_actor self{system_of(client)};
    auto what = make_local<connect_request>(silent.where(), duration::zero(), duration{1h});
    auto pending = port::request(self.ptr(), connector_of(client), caf::timespan{2h}, what);
    port::ask_to_exit(connector_of(client));
    std::move(pending).receive([](const local<connection>&) {},
                               [&](const caf::error& why) { seen = why; });
  }
  EXPECT_TRUE(seen);
}
TEST(NodeTest, NamesAPortThatIsInUse) {
  raw_server other{""};
  node server{{.actor_port = other.where().port, .data_port = other.where().port}};
  auto port = std::to_string(other.where().port);
  auto actors = listen(server, spawn_echo(server)).status();
  EXPECT_EQ(actors.code(), status_code::already_exists);
  EXPECT_THAT(actors.message(), AllOf(HasSubstr("port " + port), HasSubstr("another port")));
  auto data = server.listen_data([](auto) {});
  EXPECT_THAT(data.message(), HasSubstr(port));
}
TEST(NodeTest, NamesAnAddressThatIsNotOfThisHost) {
  node server{{.host = "192.0.2.1", .insecure = true}};
  auto refused = listen(server, spawn_echo(server)).status();
  EXPECT_THAT(refused.message(), HasSubstr("not an address of this machine"));
}
TEST(NodeTest, RefusesToListenOffLoopbackUnlessThatIsMeant) {
  for (auto host : {"0.0.0.0", ""}) {
    node server{{.host = host}};
    auto actors = listen(server, spawn_echo(server)).status();
    EXPECT_EQ(actors.code(), status_code::failed_precondition);
    EXPECT_THAT(actors.message(), AllOf(HasSubstr("--tls-cert"), HasSubstr("--insecure")));
    EXPECT_EQ(server.listen_data([](auto) {}).code(), status_code::failed_precondition);
  }
  node meant{{.host = "0.0.0.0", .advertise_host = "127.0.0.1", .insecure = true}};
  ASSERT_TRUE(listen(meant, spawn_echo(meant)));
  node client;
  EXPECT_TRUE(connect(client, address_of(meant)));
}
TEST(NodeTest, AdvertisesWhatItIsTold) {
  node server{{.advertise_host = "data.example.org"}};
  EXPECT_EQ(server.actor_address(), "");
  EXPECT_EQ(server.data_address(), "");
  auto port = listen(server, spawn_echo(server)).value();
  EXPECT_EQ(server.actor_address(), "data.example.org:" + std::to_string(port));
  ASSERT_TRUE(server.listen_data([](auto) {}));
  EXPECT_EQ(server.data_address(), "data.example.org:" + std::to_string(server.data_port()));
}
TEST(NodeTest, AdvertisesAnotherAddressForDataWhereItIsTold) {
  node server{{.advertise_data = "relay.example.org:4000"}};
  EXPECT_EQ(server.data_address(), "") << "nobody listens yet";
  ASSERT_TRUE(server.listen_data([](auto) {}));
  EXPECT_EQ(server.data_address(), "relay.example.org:4000");
  const auto wrong = node::make({.advertise_data = "relay.example.org"}).status();
  EXPECT_THAT(wrong.message(), AllOf(HasSubstr("advertise_data"), HasSubstr("port is missing")));
}
TEST(NodeTest, RefusesOptionsThatContradictEachOther) {
  auto lease = node::make({.lease = 0s});
  EXPECT_THAT(lease.status().message(), HasSubstr("lease"));
  auto heartbeat = node::make({.lease = 1s, .heartbeat = 2s});
  EXPECT_THAT(heartbeat.status().message(), HasSubstr("heartbeat"));
}
TEST(NodeTest, LeavesBehindAnActorThatDoesNotEnd) {
  // This actor never ends; the destructor returns nevertheless, and logs a warning.
  std::vector<std::string> lines;
  auto log = *logger::open({.sink = [&](std::string_view line) { lines.emplace_back(line); }});
  static published_actor stray;
  {
    node owner{{.log = log, .stop_budget = 1ms}};
    stray = spawn_echo(owner);
  }
  EXPECT_THAT(lines, testing::Contains(HasSubstr("left behind")));
  port::ask_to_exit(stray);
  stray = nullptr;
}
TEST(NodeTest, ServesASecondRootAfterTheFirstEnded) {
  node server, client;
  auto port = listen(server, spawn_echo(server)).value();
  auto first = connect(client, address_of(server)).value();
  caf::scoped_actor self{system_of(client)};
  self->monitor(first.actor);
  port::tell(first.actor, make_ok(crash_request));
  self->receive([&](const caf::down_msg& down) {
    EXPECT_THAT(to_status(down.reason).message(), HasSubstr("crash on demand"));
  });
  EXPECT_EQ(listen(server, spawn_echo(server)).value(), port);
  auto second = connect(client, address_of(server));
  ASSERT_TRUE(second) << to_string(second.status());
  EXPECT_NE(second->actor, first.actor);
}

TEST(NodeInSystemTest, LivesInAnActorSystemOfTheCaller) {
  node_options options{.role = node_role::consumer};
  caf::actor_system_config config;
  configure(config, options);
  caf::actor_system system{config};
  node server;
  ASSERT_TRUE(listen(server, spawn_echo(server)));
  {
    auto lodger = make_node_in(system, options);
    EXPECT_EQ(&system_of(*lodger), &system);
    ASSERT_TRUE(listen(*lodger, spawn_echo(*lodger)));
    EXPECT_TRUE(connect(*lodger, address_of(server)));
    EXPECT_TRUE(connect(server, address_of(*lodger)));
  }
  EXPECT_EQ(system.registry().running(), 0u) << "the node took its actors with it";
}

TEST(NodeProcessTest, IsSharedWhileItIsHeld) {
  auto first = node::process().value();
  auto second = node::process().value();
  EXPECT_EQ(first, second);
  auto id = first->id();
  first.reset();
  second.reset();
  EXPECT_NE(node::process().value()->id(), id);
}

const child_body forks{"forks", [](auto&) {
                         auto parent = node::process().value();
                         auto pid = ::fork();
                         if (pid == 0) {
                           auto child = node::process();
                           say(to_string(child.status()));
                           ::_exit(child ? 1 : 0);
                         }
                         int raw = 0;
                         ::waitpid(pid, &raw, 0);
                         return WEXITSTATUS(raw);
                       }};
TEST(NodeProcessTest, IsRefusedInAForkedChild) {
  auto child = forks.start();
  EXPECT_TRUE(child.read_until("this process was forked", 30s));
  EXPECT_EQ(child.wait(30s).value(), (process_end{0, 0}));
}

} // namespace
