#include "headrace/runtime/link/frames/frame_reader.hpp"
#include "headrace/runtime/link/link_metrics.hpp"
#include "headrace/runtime/link/link_service.hpp"
#include "tests/runtime/link/raw_peer.hpp"
#include "tests/runtime/link/two_nodes.hpp"
#include "tests/support/resident_bytes.hpp"

#include <fstream>
#include <random>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using test::hello_bytes;
using test::link_end;
using test::prefix_bytes;
using test::raw_peer;
using test::resident_bytes;
using test::same;
using test::sample;
using test::two_nodes;
using ::testing::HasSubstr;

/// A healthy link, which must not be affected by the misbehaving peer.
struct beside : two_nodes {
  using two_nodes::two_nodes;
  ~beside() {
    auto m = sample(5, 1, {10'000});
    near.link->send(m);
    auto got = far.next();
    EXPECT_TRUE(got && same(m, *got)) << "the other link suffered";
  }
};

TEST(LinkRefuses, SomethingElsesProtocol) {
  beside n;
  raw_peer peer{n.there.port};
  peer.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  peer.read_all();
  EXPECT_FALSE(peer.timed_out());
  auto why = n.there.refused.take();
  ASSERT_TRUE(why);
  EXPECT_THAT(why->message(), HasSubstr("GET / HTTP"));
  EXPECT_EQ(n.there.service.metrics().count(link_metric::refused, {{"cause", "bad_magic"}}), 1u);
}

TEST(LinkRefuses, RandomBytes) {
  auto seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random{seed};
  beside n;
  for (int i = 0; i < 50; ++i) {
    std::string bytes(1 + random() % 5000, '\0');
    for (auto& x : bytes) x = static_cast<char>(random());
    if (i % 2 == 0)
      bytes = hello_bytes() + bytes;
    raw_peer peer{n.there.port};
    peer.send(bytes);
    peer.finish_sending();
    if (auto accepted = i % 2 == 0 ? n.there.accepted.take() : std::nullopt) {
      EXPECT_FALSE(link_end{*accepted}.closed());
    }
    peer.read_all();
    ASSERT_FALSE(peer.timed_out());
  }
  EXPECT_GE(n.there.service.metrics().count(link_metric::refused, {{"cause", "bad_magic"}}), 45u);
}

TEST(LinkRefuses, AConnectionThatEndsInMidHello) {
  beside n;
  raw_peer peer{n.there.port};
  peer.send(hello_bytes().substr(0, 40));
  peer.finish_sending();
  peer.read_all();
  ASSERT_TRUE(n.there.refused.take());
  EXPECT_EQ(n.there.service.metrics().count(link_metric::refused, {{"cause", "truncated"}}), 1u);
}

TEST(LinkRefuses, ASilentConnection) {
  beside n{{.handshake_timeout = 100ms}};
  raw_peer peer{n.there.port};
  peer.send(hello_bytes().substr(0, 3));
  EXPECT_EQ(peer.read_all(), "");
  EXPECT_FALSE(peer.timed_out());
  auto why = n.there.refused.take();
  ASSERT_TRUE(why);
  EXPECT_EQ(why->code(), status_code::deadline_exceeded);
  EXPECT_EQ(n.there.service.metrics().count(link_metric::refused, {{"cause", "silent"}}), 1u);
}

TEST(LinkRefuses, AHelloThatIsNone) {
  beside n;
  frame_writer writer;
  writer.push_hello(buffer::copy_of("\xff\xff\xff\xff\xff\xff\xff\xff", 8));
  raw_peer peer{n.there.port};
  peer.send(test::text_of(writer));
  peer.read_all();
  ASSERT_TRUE(n.there.refused.take());
  EXPECT_EQ(n.there.service.metrics().count(link_metric::refused, {{"cause", "bad_frame"}}), 1u);
}

TEST(LinkRefuses, AnotherMajorVersionAndTellsItWhy) {
  beside n;
  raw_peer peer{n.there.port};
  peer.send(hello_bytes({.protocol_major = 9, .protocol_minor = 4, .node_id = 5}));
  // The answer is a hello, with which the peer can report the version of this build.
  frame_reader reader{{}};
  auto answer = peer.read_all();
  EXPECT_FALSE(peer.timed_out());
  auto into = reader.targets();
  ASSERT_LE(answer.size(), into[0].iov_len);
  std::memcpy(into[0].iov_base, answer.data(), answer.size());
  reader.filled(answer.size());
  std::optional<link_message> message;
  ASSERT_TRUE(reader.next(message));
  ASSERT_TRUE(message);
  EXPECT_EQ(decode_hello(message->header)->protocol_major, link_protocol_major);
  auto why = n.there.refused.take();
  ASSERT_TRUE(why);
  EXPECT_THAT(why->message(), HasSubstr("version 9.4"));
  EXPECT_THAT(why->message(), HasSubstr("version 1.1"));
  EXPECT_EQ(n.there.service.metrics().count(link_metric::refused, {{"cause", "bad_version"}}), 1u);
}

TEST(LinkRefuses, MoreThanItsLimits) {
  beside n{{.limits = {.message_bytes = 1 << 20}}};
  raw_peer peer{n.there.port};
  peer.send(hello_bytes());
  link_end end{n.there.accepted.take().value()};
  std::string size(8, '\0');
  store_u64((1 << 20) + 1, reinterpret_cast<std::byte*>(size.data()));
  peer.send(prefix_bytes({.magic = frame_magic, .segments = 1, .payload_bytes = 1000}) + size);
  EXPECT_EQ(end.closed().code(), status_code::resource_exhausted);
  EXPECT_EQ(n.there.service.metrics().count(link_metric::refused, {{"cause", "oversized"}}), 1u);
}

TEST(Link, TakesNoMemoryForWhatIsOnlyAnnounced) {
  beside n;
  auto before = resident_bytes();
  std::string size(8, '\0');
  store_u64((uint64_t{1} << 40) - 4096, reinterpret_cast<std::byte*>(size.data()));
  {
    std::vector<raw_peer> peers;
    std::vector<std::unique_ptr<link_end>> ends;
    for (int i = 0; i < 20; ++i) {
      auto& peer = peers.emplace_back(n.there.port);
      peer.send(hello_bytes());
      ends.push_back(std::make_unique<link_end>(n.there.accepted.take().value()));
      // Announces nearly 1 TiB in each of several channels, and sends a few bytes of it.
      for (uint32_t channel = 1; channel < 10; ++channel)
        peer.send(prefix_bytes(
                    {.magic = frame_magic, .channel = channel, .segments = 1, .payload_bytes = 8})
                  + size + "12345678");
      // When this small message has arrived, all bytes before it were read.
      peer.send(prefix_bytes({.magic = frame_magic, .channel = 99}));
      ASSERT_TRUE(ends.back()->next());
    }
    EXPECT_LT(resident_bytes(), before + (64 << 20));
  }
}

} // namespace
} // namespace headrace::detail
