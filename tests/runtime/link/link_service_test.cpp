#include "headrace/runtime/link/frame_reader.hpp"
#include "headrace/runtime/link/link_service.hpp"
#include "tests/runtime/link/link_fixture.hpp"
#include "tests/runtime/link/raw_peer.hpp"
#include "tests/support/relay.hpp"

#include <fstream>
#include <future>
#include <thread>

namespace headrace {
namespace {

using namespace std::chrono_literals;
using test::hello_bytes;
using test::host;
using test::link_end;
using test::prefix_bytes;
using test::raw_peer;
using test::raw_server;
using test::relay;
using test::same;
using test::sample;
using ::testing::HasSubstr;

/// Two nodes with a link between them.
struct two_nodes {
  explicit two_nodes(link_options server = {},
                     link_options client = {.node_id = 22, .role = "consumer"})
    : there(std::move(server)), here(std::move(client)) {
    auto made = test::connect(here, there.port);
    EXPECT_TRUE(made.ok()) << to_string(made.status());
    if (!made)
      return;
    near.attach(*made);
    far.attach(there.accepted.take().value());
  }
  host there;
  link_service here;
  link_end near, far;
};

TEST(Link, TellsBothEndsWhoTheOtherIs) {
  two_nodes n{{.node_id = 11, .role = "worker"}};
  EXPECT_EQ(n.near.link->peer_node(), 11u);
  EXPECT_EQ(n.near.link->peer_role(), "worker");
  EXPECT_EQ(n.far.link->peer_node(), 22u);
  EXPECT_EQ(n.far.link->peer_role(), "consumer");
  EXPECT_EQ(n.near.link->peer_boot_id(), n.far.link->peer_boot_id());
  EXPECT_FALSE(n.near.link->peer_boot_id().empty());
  EXPECT_EQ(n.near.link->peer_address(), "127.0.0.1:" + std::to_string(n.there.port));
  EXPECT_EQ(n.there.service.counters().accepted, 1u);
  EXPECT_EQ(n.here.counters().connected, 1u);
}

TEST(Link, CarriesMessagesOfAnySizeBothWays) {
  two_nodes n;
  uint64_t seed = 0;
  for (const auto& sizes : std::vector<std::vector<size_t>>{{},
                                                            {0},
                                                            {1},
                                                            {0, 0, 7},
                                                            {64 << 10},
                                                            {100, 256 << 10, 3},
                                                            {1 << 20, 1 << 20},
                                                            {(16 << 20) + 1},
                                                            {size_t{100} << 20}}) {
    ++seed;
    auto m = sample(seed, seed % 5, sizes);
    ASSERT_TRUE(n.near.link->send(m));
    auto got = n.far.next();
    ASSERT_TRUE(got) << to_string(n.far.closed());
    EXPECT_TRUE(same(m, *got)) << "seed " << seed;
    ASSERT_TRUE(n.far.link->send(*std::move(got)));
    got = n.near.next();
    ASSERT_TRUE(got);
    EXPECT_TRUE(same(m, *got)) << "seed " << seed;
  }
}

TEST(Link, KeepsTheOrderOfManyMessages) {
  two_nodes n;
  for (uint64_t i = 0; i < 20'000; ++i) {
    link_message m{.header = buffer::copy_of(&i, sizeof(i)), .payload = {}};
    if (i % 100 == 0)
      m.payload.push_back(mutable_buffer{300'000}.freeze());
    ASSERT_TRUE(n.near.link->send(std::move(m)));
  }
  for (uint64_t i = 0; i < 20'000; ++i) {
    auto got = n.far.next();
    ASSERT_TRUE(got);
    ASSERT_EQ(got->header.as<uint64_t>()[0], i);
  }
  auto counted = n.there.service.counters();
  EXPECT_EQ(counted.messages_in, 20'000u);
  EXPECT_EQ(counted.bytes_in, 20'000u * 8 + 200u * 300'000);
  n.near.link->close(cancelled("enough"));
  EXPECT_FALSE(n.near.closed());
  EXPECT_EQ(n.here.counters().bytes_out, counted.bytes_in);
  EXPECT_EQ(n.here.counters().messages_out, counted.messages_in);
}

TEST(Link, TakesMessagesFromSeveralThreads) {
  two_nodes n;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([&n, t] {
      for (uint64_t i = 0; i < 2000; ++i)
        n.near.link->send({.channel = t, .header = buffer::copy_of(&i, sizeof(i)), .payload = {}});
    });
  uint64_t next[4] = {};
  for (int i = 0; i < 8000; ++i) {
    auto got = n.far.next();
    ASSERT_TRUE(got);
    ASSERT_EQ(got->header.as<uint64_t>()[0], next[got->channel]++);
  }
  for (auto& x : threads) x.join();
}

TEST(Link, KeepsWhatArrivesBeforeTheHandlersAreSet) {
  host there;
  link_service here;
  auto made = test::connect(here, there.port);
  ASSERT_TRUE(made.ok());
  auto m = sample(1, 2, {1000});
  (*made)->send(m);
  link_end far{there.accepted.take().value()};
  auto got = far.next();
  ASSERT_TRUE(got);
  EXPECT_TRUE(same(m, *got));
}

TEST(Link, CountsWhatWaitsAndTellsWhenItIsGone) {
  host there;
  link_service here;
  auto made = test::connect(here, there.port);
  ASSERT_TRUE(made.ok());
  link_end near{*made};
  auto accepted = there.accepted.take().value();
  // Nobody reads at the other end yet, and no socket buffers so much.
  for (int i = 0; i < 8; ++i) near.link->send(sample(1, 1, {16 << 20}));
  EXPECT_GT(near.link->queued_bytes(), size_t{32} << 20);
  link_end far{accepted};
  EXPECT_TRUE(near.drained());
  EXPECT_EQ(near.link->queued_bytes(), 0u);
}

TEST(Link, TellsBothEndsOnceWhenOneCloses) {
  two_nodes n;
  n.near.link->close(cancelled("enough"));
  n.near.link->close(cancelled("again"));
  EXPECT_EQ(n.near.closed(), cancelled("enough"));
  EXPECT_EQ(n.far.closed().code(), status_code::unavailable);
  EXPECT_FALSE(n.near.link->send({}));
  n.far.link->close(cancelled("too late"));
  EXPECT_EQ(n.near.times_closed(), 1u);
  EXPECT_EQ(n.far.times_closed(), 1u);
}

TEST(Link, TellsOfTheEndAlsoWhenHandlersComeLater) {
  host there;
  link_service here;
  auto made = test::connect(here, there.port);
  ASSERT_TRUE(made.ok());
  (*made)->close(cancelled("enough"));
  link_end near{*made};
  EXPECT_EQ(near.closed(), cancelled("enough"));
}

TEST(Link, EndsWithItsService) {
  auto here = std::make_unique<link_service>();
  host there;
  auto made = test::connect(*here, there.port);
  ASSERT_TRUE(made.ok());
  link_end near{*made};
  link_end far{there.accepted.take().value()};
  here.reset();
  EXPECT_EQ(near.closed().code(), status_code::cancelled);
  EXPECT_EQ(far.closed().code(), status_code::unavailable);
  EXPECT_FALSE(near.link->send({}));
}

TEST(Link, RefusesToSendWhatThePeerWouldRefuse) {
  two_nodes n;
  EXPECT_FALSE(n.near.link->send({.header = buffer::copy_of("123", 3), .payload = {}}));
  EXPECT_FALSE(
    n.near.link->send({.header = mutable_buffer{(4 << 20) + 8}.freeze(), .payload = {}}));
  EXPECT_FALSE(n.near.link->send({.header = {}, .payload = std::vector<buffer>(4097)}));
  EXPECT_TRUE(n.near.link->send(sample(1, 1, {})));
  EXPECT_TRUE(n.far.next());
}

TEST(Link, EndsInMidMessageWhenTheNetworkIsCut) {
  for (auto way : {relay::direction::forward, relay::direction::back}) {
    host there;
    relay between{there.port};
    link_service here;
    auto made = test::connect(here, between.port());
    ASSERT_TRUE(made.ok()) << to_string(made.status());
    link_end near{*made};
    link_end far{there.accepted.take().value()};
    auto& from = way == relay::direction::forward ? near : far;
    auto& to = way == relay::direction::forward ? far : near;
    auto& receiving = way == relay::direction::forward ? there.service : here;
    from.link->send(sample(1, 1, {100}));
    ASSERT_TRUE(to.next());
    between.cut_after(way, 500'000);
    from.link->send(sample(2, 1, {1'000'000}));
    EXPECT_THAT(to.closed().message(), HasSubstr("middle of a message"));
    EXPECT_EQ(from.closed().code(), status_code::unavailable);
    EXPECT_EQ(receiving.counters().truncated, 1u);
  }
}

TEST(Link, UsesSeveralThreads) {
  host there{{.threads = 2}};
  link_service here{{.threads = 2}};
  std::vector<std::unique_ptr<link_end>> near, far;
  for (int i = 0; i < 4; ++i) {
    auto made = test::connect(here, there.port);
    ASSERT_TRUE(made.ok());
    near.push_back(std::make_unique<link_end>(*made));
    far.push_back(std::make_unique<link_end>(there.accepted.take().value()));
  }
  for (uint64_t i = 0; i < 4; ++i) near[i]->link->send(sample(i, 1, {2 << 20}));
  for (auto& x : far) EXPECT_TRUE(x->next());
}

// -- who is not welcome ----------------------------------------------------------

/// A healthy link beside the misbehaving peer must not notice.
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
  EXPECT_EQ(n.there.service.counters().bad_magic, 1u);
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
  EXPECT_GE(n.there.service.counters().bad_magic, 45u);
}

TEST(LinkRefuses, AConnectionThatEndsInMidHello) {
  beside n;
  raw_peer peer{n.there.port};
  peer.send(hello_bytes().substr(0, 40));
  peer.finish_sending();
  peer.read_all();
  ASSERT_TRUE(n.there.refused.take());
  EXPECT_EQ(n.there.service.counters().truncated, 1u);
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
  EXPECT_EQ(n.there.service.counters().silent, 1u);
}

TEST(LinkRefuses, AHelloThatIsNone) {
  beside n;
  frame_writer writer;
  writer.push_hello(buffer::copy_of("\xff\xff\xff\xff\xff\xff\xff\xff", 8));
  raw_peer peer{n.there.port};
  peer.send(test::text_of(writer));
  peer.read_all();
  ASSERT_TRUE(n.there.refused.take());
  EXPECT_EQ(n.there.service.counters().bad_frame, 1u);
}

TEST(LinkRefuses, AnotherMajorVersionAndTellsItWhy) {
  beside n;
  raw_peer peer{n.there.port};
  peer.send(hello_bytes({.protocol_major = 9, .protocol_minor = 4, .node_id = 5}));
  // The answer is a hello from which the other can see our version.
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
  EXPECT_THAT(why->message(), HasSubstr("version 1.0"));
  EXPECT_EQ(n.there.service.counters().bad_version, 1u);
}

size_t resident_bytes() {
  std::ifstream in{"/proc/self/statm"};
  size_t total = 0, resident = 0;
  in >> total >> resident;
  return resident * 4096;
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
  EXPECT_EQ(n.there.service.counters().oversized, 1u);
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
      // 1 TiB in many channels, with a few bytes each.
      for (uint32_t channel = 1; channel < 10; ++channel)
        peer.send(prefix_bytes(
                    {.magic = frame_magic, .channel = channel, .segments = 1, .payload_bytes = 8})
                  + size + "12345678");
      // A whole small message shows that all of it was read.
      peer.send(prefix_bytes({.magic = frame_magic, .channel = 99}));
      ASSERT_TRUE(ends.back()->next());
    }
    EXPECT_LT(resident_bytes(), before + (64 << 20));
  }
}

// -- connecting to the wrong thing -----------------------------------------------

TEST(LinkConnect, NamesTheAddressWhereNobodyListens) {
  uint16_t port = 0;
  {
    raw_server gone;
    port = gone.port();
  }
  link_service here;
  auto made = test::connect(here, port);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), status_code::unavailable);
  EXPECT_THAT(made.status().message(), HasSubstr("127.0.0.1:" + std::to_string(port)));
  EXPECT_THAT(made.status().message(), HasSubstr("nobody listens"));
}

TEST(LinkConnect, NamesAHostThatDoesNotExist) {
  link_service here;
  auto made = test::connect(here, 1, "no.such.host.invalid");
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.status().message(), HasSubstr("no.such.host.invalid:1"));
}

TEST(LinkConnect, TellsWhenSomethingElseListens) {
  raw_server http;
  link_service here;
  auto server = std::async(std::launch::async, [&] {
    auto peer = http.accept();
    peer.send("HTTP/1.1 400 Bad Request\r\n\r\n");
    peer.finish_sending();
    peer.read_all();
  });
  auto made = test::connect(here, http.port());
  server.wait();
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.status().message(), HasSubstr("HTTP/1.1 400"));
  EXPECT_THAT(made.status().message(), HasSubstr("something else"));
  EXPECT_THAT(made.status().message(), HasSubstr(std::to_string(http.port())));
}

TEST(LinkConnect, GivesUpOnASilentServer) {
  raw_server silent; // the kernel accepts, nobody answers
  link_service here{{.handshake_timeout = 100ms}};
  auto made = test::connect(here, silent.port());
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), status_code::deadline_exceeded);
}

TEST(LinkConnect, GivesUpWhenNothingAnswersAtAll) {
  raw_server busy{0};
  raw_peer first{busy.port()}; // fills the queue
  link_service here{{.connect_timeout = 100ms}};
  auto made = test::connect(here, busy.port());
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), status_code::deadline_exceeded);
  EXPECT_THAT(made.status().message(), HasSubstr("127.0.0.1:" + std::to_string(busy.port())));
}

TEST(LinkConnect, TellsBothVersionsWhenTheyDiffer) {
  raw_server newer;
  link_service here;
  auto server = std::async(std::launch::async, [&] {
    auto peer = newer.accept();
    peer.send(hello_bytes({.protocol_major = 2, .protocol_minor = 1}));
    peer.read_all();
  });
  auto made = test::connect(here, newer.port());
  server.wait();
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), status_code::failed_precondition);
  EXPECT_THAT(made.status().message(), HasSubstr("2.1"));
  EXPECT_THAT(made.status().message(), HasSubstr("1.0"));
}

TEST(LinkConnect, IsToldWhenItsServiceEndsFirst) {
  raw_server silent;
  test::mailbox<status> ended;
  {
    link_service here;
    here.connect("127.0.0.1", silent.port(), [&](auto x) { ended.put(x.status()); });
  }
  EXPECT_EQ(ended.take().value().code(), status_code::cancelled);
}

TEST(LinkListen, NamesAPortInUse) {
  host there;
  link_service here;
  auto again = here.listen("127.0.0.1", there.port, {});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.status().code(), status_code::already_exists);
  EXPECT_THAT(again.status().message(), HasSubstr("127.0.0.1:" + std::to_string(there.port)));
}

TEST(LinkListen, RefusesAnAddressOfAnotherMachine) {
  link_service here;
  auto bound = here.listen("192.0.2.1", 0, {});
  ASSERT_FALSE(bound.ok());
  EXPECT_THAT(bound.status().message(), HasSubstr("192.0.2.1"));
}

} // namespace
} // namespace headrace
