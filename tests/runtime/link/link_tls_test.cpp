#include "headrace/runtime/link/link_metrics.hpp"
#include "headrace/runtime/link/link_service.hpp"
#include "headrace/runtime/link/wire/tls_check.hpp"
#include "tests/runtime/link/link_fixture.hpp"
#include "tests/runtime/link/raw_peer.hpp"
#include "tests/runtime/tls/certificates.hpp"

#include <csignal>
#include <fstream>
#include <openssl/ssl.h>

namespace headrace::detail {
namespace {

using test::certificate_authority;
using test::host;
using test::link_end;
using test::raw_peer;
using test::same;
using test::sample;
using ::testing::HasSubstr;

struct LinkTls : ::testing::Test {
  certificate_authority ours{"ours"};
  certificate_authority foreign{"foreign"};
};

TEST_F(LinkTls, CarriesMessagesBetweenThoseWhoHaveCertificates) {
  host there{{.tls = ours.issue("worker")}};
  link_service here{{.tls = ours.issue("trainer")}};
  auto made = test::connect(here, there.port);
  ASSERT_TRUE(made.ok()) << to_string(made.status());
  link_end near{*made};
  link_end far{there.accepted.take().value()};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    auto m = sample(seed, 3, {100, seed * 100'000, 1'000'000});
    near.link->send(m);
    far.link->send(m);
    auto a = far.next(), b = near.next();
    ASSERT_TRUE(a && b);
    EXPECT_TRUE(same(m, *a));
    EXPECT_TRUE(same(m, *b));
  }
  near.link->close(cancelled("enough"));
  EXPECT_EQ(far.closed().code(), status_code::unavailable);
}

TEST_F(LinkTls, GivesNothingToAClientOfAnotherAuthority) {
  host there{{.tls = ours.issue("worker")}};
  // The stranger trusts our authority too, so that only our check of its certificate refuses it.
  auto stranger = foreign.issue("stranger");
  auto both = ::testing::TempDir() + "headrace_both_authorities.pem";
  std::ofstream{both} << std::ifstream{foreign.file()}.rdbuf()
                      << std::ifstream{ours.file()}.rdbuf();
  stranger.ca_file = both;
  link_service here{{.tls = stranger}};
  auto made = test::connect(here, there.port);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), status_code::unauthenticated) << to_string(made.status());
  auto why = there.refused.take();
  ASSERT_TRUE(why);
  EXPECT_EQ(why->code(), status_code::unauthenticated) << to_string(*why);
  EXPECT_EQ(there.service.metrics().count(link_metric::refused, {{"cause", "tls"}}), 1u);
  EXPECT_EQ(there.service.metrics().count(link_metric::accepted), 0u);
}

TEST_F(LinkTls, GivesNothingToAClientWithoutACertificate) {
  host there{{.tls = ours.issue("worker")}};
  // This client checks no certificate and presents none.
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context{SSL_CTX_new(TLS_client_method()),
                                                            SSL_CTX_free};
  std::unique_ptr<SSL, decltype(&SSL_free)> client{SSL_new(context.get()), SSL_free};
  std::signal(SIGPIPE, SIG_IGN); // raised by the sockets of the TLS library
  raw_peer peer{there.port};
  SSL_set_fd(client.get(), peer.socket());
  SSL_connect(client.get()); // may succeed on the client's side
  auto hello = test::hello_bytes();
  SSL_write(client.get(), hello.data(), static_cast<int>(hello.size()));
  char answer[64];
  EXPECT_LE(SSL_read(client.get(), answer, sizeof(answer)), 0);
  EXPECT_TRUE(there.refused.take());
  EXPECT_EQ(there.service.metrics().count(link_metric::refused, {{"cause", "tls"}}), 1u);
  EXPECT_EQ(there.service.metrics().count(link_metric::accepted), 0u);
}

TEST_F(LinkTls, GivesNothingToAClientWithoutTls) {
  host there{{.tls = ours.issue("worker")}};
  link_service here;
  auto made = test::connect(here, there.port);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.status().message(), HasSubstr("expect TLS"));
  EXPECT_TRUE(there.refused.take());
  EXPECT_EQ(there.service.metrics().count(link_metric::refused, {{"cause", "tls"}}), 1u);
  // A client without TLS does not get the hello of the listening node either.
  raw_peer peer{there.port};
  peer.send(test::hello_bytes());
  EXPECT_THAT(peer.read_all(), ::testing::Not(HasSubstr("HLK1")));
}

TEST_F(LinkTls, DoesNotTalkToAServerWithoutTls) {
  host there;
  link_service here{{.tls = ours.issue("trainer")}};
  auto made = test::connect(here, there.port);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(there.service.metrics().count(link_metric::accepted), 0u);
}

TEST_F(LinkTls, DoesNotTalkToAServerOfAnotherAuthority) {
  host there{{.tls = foreign.issue("worker")}};
  link_service here{{.tls = ours.issue("trainer")}};
  auto made = test::connect(here, there.port);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), status_code::unauthenticated) << to_string(made.status());
}

TEST_F(LinkTls, ChecksItsFilesBeforeUse) {
  auto good = ours.issue("worker");
  EXPECT_TRUE(check_tls(good)) << to_string(check_tls(good));
  EXPECT_TRUE(check_tls({}));

  auto x = good;
  x.key.clear();
  EXPECT_THAT(check_tls(x).message(), HasSubstr("private key"));
  x = good;
  x.certificate = "/nowhere/cert.pem";
  EXPECT_EQ(check_tls(x).code(), status_code::not_found);
  EXPECT_THAT(check_tls(x).message(), HasSubstr("/nowhere/cert.pem"));
  x = good;
  x.key = ours.issue("other").key;
  EXPECT_THAT(check_tls(x).message(), HasSubstr(x.key));
  x = good;
  x.ca_file = foreign.file();
  EXPECT_THAT(check_tls(x).message(), HasSubstr("vouches"));
  auto junk = ::testing::TempDir() + "headrace_junk.pem";
  std::ofstream{junk} << "no certificate\n";
  x = good;
  x.certificate = junk;
  EXPECT_THAT(check_tls(x).message(), HasSubstr(junk));
  EXPECT_THROW(link_service{{.tls = x}}, error);
}

} // namespace
} // namespace headrace::detail
