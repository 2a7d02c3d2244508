#include "tests/runtime/basp/actor_port_fuzz.hpp"

#include "headrace/runtime/basp/network_guard.hpp"
#include "headrace/runtime/node/node_metrics.hpp"
#include "headrace/runtime/process/memory_limit.hpp"
#include "tests/runtime/link/raw_peer.hpp"
#include "tests/runtime/node/echo_actor.hpp"
#include "tests/support/hoarding_peers.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/test_seed.hpp"

#include <cstdlib>
#include <deque>
#include <gtest/gtest.h>
#include <thread>

namespace headrace::detail::test {
namespace {

/// Forwards two connections of a client, one after the other: its probe, and the connection that
/// follows the probe. Records the bytes that the client sent over the second connection.
class recorder {
public:
  explicit recorder(uint16_t target)
    : thread_([this, target] {
        for (int i = 0; i < 2; ++i) {
          const auto near = listener_.accept();
          const raw_peer far{target};
          said_.clear();
          std::thread back{[&] { pass(far.socket(), near.socket(), nullptr); }};
          pass(near.socket(), far.socket(), &said_);
          back.join();
        }
      }) {}
  address where() const { return {"", "127.0.0.1", listener_.port()}; }
  /// Waits until both connections have ended; returns the recorded bytes.
  std::string said() { return thread_.join(), said_; }

private:
  static void pass(int from, int to, std::string* copy) {
    char bytes[1 << 16];
    for (ssize_t n = 0; (n = ::recv(from, bytes, sizeof(bytes), 0)) > 0;) {
      if (copy != nullptr)
        copy->append(bytes, static_cast<size_t>(n));
      if (::send(to, bytes, static_cast<size_t>(n), MSG_NOSIGNAL) != n)
        break;
    }
    ::shutdown(to, SHUT_RDWR);
    ::shutdown(from, SHUT_RDWR);
  }

  raw_listener listener_;
  std::string said_;
  std::thread thread_;
};

/// The bytes of a client that greets, sends several requests, each from an actor that ends after
/// its request, and closes the connection. An error response is appended, which clients of this
/// server never send.
std::string conversation_with(const node& server) {
  recorder tap{server.actor_port()};
  {
    node client;
    const auto made = connect(client, tap.where(), patience).value();
    for (uint64_t i = 1; i < 4; ++i)
      EXPECT_TRUE(ask_raw(client, made.actor, make_failure(not_found(std::string(80, 'x')), i)));
  }
  return tap.said()
         + basp_direct(basp_bytes{}.types("@<>+@error").error("no"), basp_response | basp_async | 3)
             .bytes();
}

/// The number of connections: the value of HEADRACE_FUZZ_CONNECTIONS, or 3,000 if it is not set, so
/// that an ordinary test run is short.
size_t how_many() {
  const char* given = std::getenv("HEADRACE_FUZZ_CONNECTIONS");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 3000;
}

void reset(const raw_peer& peer) {
  const linger at_once{1, 0};
  ::setsockopt(peer.socket(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

TEST(ActorPortFuzz, LivesOnAndServesOthersWhateverStrangersSay) {
  const auto seed = test_seed();
  SCOPED_TRACE("HEADRACE_TEST_SEED=" + std::to_string(seed));
  node server{{.role = node_role::dispatcher}}, honest;
  ASSERT_TRUE(listen(server, spawn_echo(server)));
  const auto made = connect(honest, address_of(server), patience).value();
  actor_port_fuzz fuzz{conversation_with(server), seed};
  const auto before = private_memory_bytes();
  std::deque<raw_peer> open;
  for (size_t i = 0, all = how_many(); i < all; ++i) {
    raw_peer stranger{server.actor_port()};
    const auto words = fuzz.next();
    const auto part = fuzz.one_in(4) ? fuzz.below(words.size() + 1) : words.size();
    stranger.send(std::string_view{words}.substr(0, part));
    stranger.send(std::string_view{words}.substr(part));
    if (fuzz.one_in(3))
      reset(stranger);
    else if (fuzz.one_in(3))
      stranger.finish_sending();
    open.push_back(std::move(stranger));
    while (open.size() > fuzz.below(40)) open.pop_front();
    if (i % 50 == 0) {
      const auto answer = ask(honest, made.actor, make_ok(i + 1), patience);
      ASSERT_TRUE(answer) << "after " << i << ": " << to_string(answer.status());
    }
    if (i % 500 == 0) {
      node newcomer;
      const auto found = connect(newcomer, address_of(server), patience);
      ASSERT_TRUE(found) << "after " << i << ": " << to_string(found.status());
    }
  }
  open.clear();
  EXPECT_TRUE(ask(honest, made.actor, make_ok(1), patience));
  if (!sanitized) {
    EXPECT_LT(private_memory_bytes(), before + (size_t{256} << 20));
  }
  // Some of the inputs were refused for each cause, and some passed the check.
  const auto& counted = *server.metrics();
  for (const auto cause :
       {basp_refusal::malformed, basp_refusal::oversized, basp_refusal::out_of_turn,
        basp_refusal::foreign, basp_refusal::impostor})
    EXPECT_GT(counted.count(actor_port_metric::refused, {{"cause", std::string{to_string(cause)}}}),
              0u)
      << to_string(cause);
  EXPECT_GT(counted.count(node_metric::bad_messages), 0u);
  EXPECT_GT(counted.count(node_metric::hellos), how_many() / 10);
}

} // namespace
} // namespace headrace::detail::test
