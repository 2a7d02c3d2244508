#include "headrace/runtime/node/peer.hpp"
#include "headrace/runtime/process/exit_code.hpp"
#include "headrace/runtime/process/memory_limit.hpp"
#include "headrace/runtime/process/process_parent.hpp"
#include "headrace/runtime/process/stop_signal.hpp"
#include "tests/runtime/node/echo_actor.hpp"
#include "tests/runtime/process/child_body.hpp"
#include "tests/support/hoarding_peers.hpp"

#include <csignal>
#include <gtest/gtest.h>
#include <optional>

using namespace headrace;
using namespace headrace::detail;
using namespace headrace::detail::test;
using namespace std::chrono_literals;

namespace {

constexpr auto patience = 30s;

/// A server like those of the `headrace` command: it has a parent process, a memory limit, and a
/// stop in order at a signal.
const child_body guarded{
  "guarded", [](auto&) {
    return run_under_parent({.first_pause = 1ms}, [](process_lives& lives) {
      if (!sanitized)
        if (auto set = set_memory_limit(private_memory_bytes() + (512 << 20)); !set)
          say(to_string(set));
      stop_signal stop;
      node server{{.role = node_role::worker, .actor_port = lives.port(0, 0)}};
      auto port = listen(server, spawn_echo(server));
      if (!port) {
        say(to_string(port.status()));
        return static_cast<int>(exit_code_of(port.status()));
      }
      lives.keep_port(0, *port);
      say("ready " + std::to_string(*port));
      stop.wait();
      return 0;
    });
  }};

uint16_t port_of(child_process& x) {
  auto line = x.read_until("ready", patience).value();
  return static_cast<uint16_t>(std::stoi(line.substr(line.rfind(' ') + 1)));
}

TEST(ServerProcessTest, EndsAtItsMemoryLimitAndIsFoundAgainOnItsPort) {
  if (sanitized)
    GTEST_SKIP() << "the sanitizer's own memory would count";
  auto server = guarded.start();
  auto port = port_of(server);
  address where{"", "127.0.0.1", port};
  node client;
  auto before = connect(client, where, patience).value();
  std::optional<hoarding_peers> attackers;
  attackers.emplace(port, size_t{700} << 20);
  ASSERT_TRUE(server.read_until("memory limit of", patience));
  ASSERT_TRUE(server.read_until("exit code 75", patience));
  EXPECT_EQ(port_of(server), port);
  attackers.reset();
  auto after = connect(client, where, patience);
  ASSERT_TRUE(after) << to_string(after.status());
  EXPECT_NE(after->peer.node_id, before.peer.node_id);
}
TEST(ServerProcessTest, StopsInOrderOnSigterm) {
  auto server = guarded.start();
  port_of(server);
  server.kill(SIGTERM);
  EXPECT_EQ(server.wait(patience).value(), (process_end{0, 0}));
}

} // namespace
