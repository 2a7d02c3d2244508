#include "headrace/runtime/link/link_metrics.hpp"
#include "headrace/runtime/link/link_service.hpp"
#include "tests/runtime/link/raw_peer.hpp"
#include "tests/runtime/link/two_nodes.hpp"
#include "tests/runtime/tls/certificates.hpp"

#include <atomic>
#include <netinet/tcp.h>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using test::hello_bytes;
using test::host;
using test::link_end;
using test::prefix_bytes;
using test::raw_listener;
using test::raw_peer;
using test::relay;
using test::sample;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr link_liveness hasty{20ms, 200ms};

link_hello pinging(duration every) {
  return {.node_id = 99, .boot_id = "x", .role = "raw", .ping_every = every};
}

std::string ping() { return prefix_bytes({.magic = frame_magic, .flags = flag_ping}); }

/// A link through a relay, over which nothing passes from the moment `cut_off` is called.
struct over_relay {
  explicit over_relay(tls_options tls = {})
    : there({.tls = tls, .liveness = hasty}), here({.tls = tls, .liveness = hasty}) {
    auto made = test::connect(here, between.port());
    if (!made)
      throw error{made.status()};
    near.attach(*made);
    far.attach(there.accepted.take().value());
    auto m = sample(1, 1, {100});
    near.link->send(m);
    EXPECT_TRUE(far.next());
  }
  void cut_off() { between.hold(true); }
  host there;
  relay between{there.port};
  link_service here;
  link_end near, far;
};

TEST(LinkSilence, ClosesBothEndsWhenNothingPassesAnyMore) {
  over_relay n;
  n.cut_off();
  const auto near = n.near.closed(), far = n.far.closed();
  EXPECT_EQ(near.code(), status_code::unavailable);
  EXPECT_THAT(near.message(), AllOf(HasSubstr(n.near.link->peer_address()), HasSubstr("silent for"),
                                    HasSubstr("0.02 s")));
  EXPECT_EQ(far.code(), status_code::unavailable);
  EXPECT_THAT(far.message(), AllOf(HasSubstr(n.far.link->peer_address()), HasSubstr("silent for")));
  EXPECT_EQ(n.near.times_closed(), 1u);
  EXPECT_FALSE(n.near.link->send(sample(1, 1, {})));
}

TEST(LinkSilence, ClosesBothEndsOfATlsLink) {
  test::certificate_authority ours{"ours"};
  over_relay n{ours.issue("both")};
  n.cut_off();
  EXPECT_THAT(n.near.closed().message(), HasSubstr("silent for"));
  EXPECT_THAT(n.far.closed().message(), HasSubstr("silent for"));
}

TEST(LinkSilence, ClosesALinkWhoseWritesStandStill) {
  over_relay n;
  n.cut_off();
  // These messages are far more bytes than the sockets and the relay can buffer.
  for (int i = 0; i < 8; ++i) n.near.link->send(sample(1, 1, {16 << 20}));
  EXPECT_THAT(n.near.closed().message(), HasSubstr("silent for"));
  EXPECT_EQ(n.near.link->queued_bytes(), 0u);
}

TEST(LinkSilence, PingsAPeerThatKnowsThem) {
  host there{{.liveness = {10ms, 1h}}};
  raw_peer peer{there.port};
  peer.send(hello_bytes(pinging(0s)));
  link_end end{there.accepted.take().value()};
  // The hello is followed by pings.
  std::string bytes;
  while (!bytes.ends_with(ping() + ping() + ping())) {
    const auto more = peer.read(1000);
    ASSERT_FALSE(more.empty()) << "no pings came";
    bytes += more;
  }
  EXPECT_EQ(end.times_closed(), 0u);
  EXPECT_EQ(there.service.metrics().count(link_metric::messages_out), 0u);
}

TEST(LinkSilence, IsLawfulForAPeerOfBeforeThePingsAndItGetsNone) {
  host there{{.liveness = {1ms, 100ms}}};
  raw_peer old{there.port};
  old.send(hello_bytes({.protocol_minor = 0, .node_id = 98}));
  link_end end{there.accepted.take().value()};
  // Waits until the link to a peer that announced pings and sends none is closed: then the time
  // limit has passed for the old peer, too.
  raw_peer other{there.port};
  other.send(hello_bytes(pinging(1ms)));
  link_end left{there.accepted.take().value()};
  EXPECT_THAT(left.closed().message(), HasSubstr("silent for"));

  old.send(prefix_bytes({.magic = frame_magic, .channel = 7}));
  auto got = end.next();
  ASSERT_TRUE(got) << to_string(end.closed());
  EXPECT_EQ(got->channel, 7u);
  end.link->close(cancelled("enough"));
  EXPECT_THAT(old.read_all(), ::testing::Not(HasSubstr(ping())));
}

TEST(LinkSilence, IsNotWhatAPeerKeepsThatReadsNothingAndPings) {
  const auto large = sample(1, 1, {16 << 20});
  host there{{.liveness = {10ms, 2s}}};
  raw_peer slow{there.port};
  slow.send(hello_bytes(pinging(10ms)));
  link_end end{there.accepted.take().value()};
  for (int i = 0; i < 8; ++i) end.link->send(large);
  raw_peer other{there.port};
  other.send(hello_bytes(pinging(10ms)));
  link_end left{there.accepted.take().value()};
  // Waits until the time limit has passed for another connection.
  const auto deadline = clock::system().now() + test::patience;
  do slow.send(ping());
  while (!left.closed_within(10ms) && clock::system().now() < deadline);
  EXPECT_EQ(left.times_closed(), 1u);
  EXPECT_EQ(end.times_closed(), 0u);
  EXPECT_GT(end.link->queued_bytes(), size_t{32} << 20);
  slow.send(prefix_bytes({.magic = frame_magic, .channel = 7}));
  EXPECT_TRUE(end.next());
}

TEST(LinkSilence, EndsWithTheKernelsPatienceToo) {
  raw_listener server;
  link_service here{{.liveness = {1s, 7s}}};
  test::mailbox<result<std::shared_ptr<link>>> box;
  here.connect("127.0.0.1", server.port(), [&](auto x) { box.put(std::move(x)); });
  auto peer = server.accept();
  peer.send(hello_bytes(pinging(1s)));
  ASSERT_TRUE(box.take().value().ok());
  std::vector<unsigned> found;
  for (int fd = 0; fd < 1024; ++fd) {
    sockaddr_in at{};
    socklen_t size = sizeof(at);
    unsigned ms = 0;
    socklen_t length = sizeof(ms);
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&at), &size) == 0
        && ntohs(at.sin_port) == server.port()
        && ::getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, &length) == 0)
      found.push_back(ms);
  }
  EXPECT_THAT(found, ::testing::ElementsAre(14'000u));
}

TEST(LinkSilence, OptionsThatContradictEachOtherAreRefused) {
  EXPECT_THROW((link_service{{.liveness = {1s, 1s}}}), error);
}

} // namespace
} // namespace headrace::detail
