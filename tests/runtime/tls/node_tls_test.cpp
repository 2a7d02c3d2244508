#include "headrace/runtime/node/node_metrics.hpp"
#include "tests/runtime/node/echo_actor.hpp"
#include "tests/runtime/tls/certificates.hpp"

#include <asio.hpp>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

using namespace headrace;
using namespace headrace::detail;
using namespace headrace::detail::test;
using namespace std::chrono_literals;
using testing::HasSubstr;

namespace {

struct NodeTlsTest : testing::Test {
  certificate_authority ours{"ours"}, theirs{"theirs"};
  node server{{.role = node_role::dispatcher, .tls = ours.issue("server")}};

  void SetUp() override { ASSERT_TRUE(listen(server, spawn_echo(server))); }
  /// Checks that the server refuses a client with these options, and still serves others.
  void refused(node_options options, duration limit) {
    options.stop_budget = 20s;
    node client{std::move(options)};
    auto made = connect(client, address_of(server), limit);
    EXPECT_FALSE(made);
    EXPECT_EQ(server.metrics()->count(node_metric::hellos), 0u);
    // A client with a valid certificate is served.
    node friendly{{.tls = ours.issue("friend")}};
    auto fine = connect(friendly, address_of(server), 20s);
    EXPECT_TRUE(fine) << to_string(fine.status());
  }
};

/// True if the server sends more than a TLS alert. The client sends `words`; if `words` is empty,
/// the client opens a TLS session without a certificate instead.
bool hears_from(uint16_t port, const std::string& words) {
  asio::io_context loop;
  asio::ip::tcp::socket socket{loop};
  socket.connect({asio::ip::address_v4::loopback(), port});
  if (!words.empty()) {
    asio::write(socket, asio::buffer(words));
    std::error_code gone; // ignored: the server may have closed the connection by now
    socket.shutdown(asio::socket_base::shutdown_send, gone);
    // The server may send only an alert, of 7 bytes, because the bytes are not TLS.
    std::string answer(64, '\0');
    std::error_code end;
    return asio::read(socket, asio::buffer(answer), end) > 7;
  }
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context{SSL_CTX_new(TLS_client_method()),
                                                                  SSL_CTX_free};
  const std::unique_ptr<SSL, decltype(&SSL_free)> session{SSL_new(context.get()), SSL_free};
  SSL_set_fd(session.get(), socket.native_handle());
  char byte = 0;
  const bool heard = SSL_connect(session.get()) == 1 && SSL_read(session.get(), &byte, 1) > 0;
  ERR_clear_error();
  return heard;
}

TEST_F(NodeTlsTest, ServesWhoHasACertificateOfItsAuthority) {
  node client{{.tls = ours.issue("client")}};
  auto made = connect(client, address_of(server), 20s);
  ASSERT_TRUE(made) << to_string(made.status());
  EXPECT_EQ(made->peer.node_id, server.id());
  EXPECT_TRUE(ask(client, made->actor, make_ok(1)));
}
TEST_F(NodeTlsTest, GivesNothingToACertificateOfAnotherAuthority) {
  refused({.tls = theirs.issue("client")}, 20s);
}
TEST_F(NodeTlsTest, GivesNothingToACertificateOfAnotherAuthorityThatTrustsOurs) {
  // The client would accept the server; the server does not accept the client.
  auto mixed = theirs.issue("client");
  std::ofstream both{mixed.certificate + ".both"};
  for (auto& file : {ours.file(), theirs.file()}) both << std::ifstream{file}.rdbuf();
  both.close();
  mixed.ca_file = mixed.certificate + ".both";
  refused({.tls = mixed}, 20s);
}
TEST_F(NodeTlsTest, GivesNothingToAClientWithoutTls) { refused({}, 50ms); }

TEST_F(NodeTlsTest, GivesNothingToATlsClientWithoutACertificate) {
  EXPECT_FALSE(hears_from(server.actor_port(), "")) << "no certificate was asked for";
  EXPECT_EQ(server.metrics()->count(node_metric::hellos), 0u);
}

TEST_F(NodeTlsTest, StrangersDoNotDisturbThoseWhoAreConnected) {
  node client{{.tls = ours.issue("client")}};
  auto made = connect(client, address_of(server), 20s);
  ASSERT_TRUE(made) << to_string(made.status());
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(hears_from(server.actor_port(), i % 2 == 0 ? "" : "no TLS at all, but words"));
    const auto answer = ask(client, made->actor, make_ok(1), 20s);
    ASSERT_TRUE(answer) << "after stranger " << i << ": " << to_string(answer.status());
  }
}

TEST_F(NodeTlsTest, TellsATlsClientThatTheServerHasNone) {
  node plain;
  ASSERT_TRUE(listen(plain, spawn_echo(plain)));
  node client{{.tls = ours.issue("client")}};
  auto made = connect(client, address_of(plain), 20s);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.status().message(), HasSubstr("TLS"));
}
TEST_F(NodeTlsTest, MayListenOffLoopback) {
  node open{{.host = "0.0.0.0", .advertise_host = "127.0.0.1", .tls = ours.issue("open")}};
  ASSERT_TRUE(listen(open, spawn_echo(open)));
  node client{{.tls = ours.issue("client")}};
  EXPECT_TRUE(connect(client, address_of(open), 20s));
}
TEST(NodeTlsOptionsTest, AreCheckedBeforeTheSystemStarts) {
  certificate_authority ours{"ours"};
  auto tls = ours.issue("x");
  tls.key = "/no/such/key.pem";
  auto made = node::make({.tls = tls});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.status().message(), HasSubstr("/no/such/key.pem"));
  EXPECT_FALSE(node::make({.tls = {.ca_file = ours.file()}})) << "the framework would abort";
}

} // namespace
