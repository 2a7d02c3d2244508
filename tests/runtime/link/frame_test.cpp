#include "headrace/runtime/link/frames/frame_reader.hpp"
#include "headrace/runtime/link/frames/frame_writer.hpp"
#include "tests/runtime/link/link_fixture.hpp"

#include <numeric>
#include <random>

namespace headrace::detail {
namespace {

using test::same;
using test::sample;

buffer hello() { return encode(link_hello{.node_id = 7, .boot_id = "here", .role = "test"}); }

/// All bytes that a writer has to send.
std::vector<std::byte> drain(frame_writer& writer) {
  std::vector<std::byte> out;
  for (auto batch = writer.batch(); !batch.empty(); batch = writer.batch()) {
    size_t n = 0;
    for (const auto& x : batch) {
      const auto* at = static_cast<const std::byte*>(x.iov_base);
      out.insert(out.end(), at, at + x.iov_len);
      n += x.iov_len;
    }
    writer.written(n);
  }
  return out;
}

std::vector<std::byte> bytes_of(const std::vector<link_message>& messages) {
  frame_writer writer;
  writer.push_hello(hello());
  for (const auto& x : messages) writer.push(x);
  return drain(writer);
}

/// Feeds a reader with the bytes in pieces of random size. Returns the messages after the hello,
/// and the status of the reader at the end.
std::pair<std::vector<link_message>, status> feed(frame_reader& reader,
                                                  std::span<const std::byte> bytes,
                                                  std::mt19937_64& random, size_t largest) {
  std::vector<link_message> out;
  auto hello_seen = false;
  while (!bytes.empty()) {
    auto left = std::uniform_int_distribution<size_t>{1, largest}(random);
    size_t moved = 0;
    for (const auto& x : reader.targets()) {
      auto n = std::min({left, x.iov_len, bytes.size()});
      std::memcpy(x.iov_base, bytes.data(), n);
      bytes = bytes.subspan(n);
      left -= n;
      moved += n;
      if (n < x.iov_len)
        break;
    }
    reader.filled(moved);
    for (;;) {
      std::optional<link_message> message;
      if (auto s = reader.next(message); !s)
        return {out, s};
      if (!message)
        break;
      if (std::exchange(hello_seen, true))
        out.push_back(*std::move(message));
    }
  }
  return {out, {}};
}

std::pair<std::vector<link_message>, status> feed(std::span<const std::byte> bytes,
                                                  link_limits limits = {}) {
  frame_reader reader{limits};
  std::mt19937_64 random{1};
  return feed(reader, bytes, random, 1 << 20);
}

TEST(Frame, GivesBackMessagesOfEverySizeHoweverTheirBytesArrive) {
  auto seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random{seed};
  for (int round = 0; round < 60; ++round) {
    std::vector<link_message> sent;
    auto count = 1 + random() % 12;
    for (size_t i = 0; i < count; ++i) {
      std::vector<size_t> sizes(random() % 5);
      for (auto& x : sizes) x = random() % 3 == 0 ? 0 : random() % (size_t{1} << (random() % 22));
      sent.push_back(sample(random(), random() % 40, sizes));
    }
    auto bytes = bytes_of(sent);
    frame_reader reader{{}};
    auto [got, why] = feed(reader, bytes, random, size_t{1} << (round % 21));
    ASSERT_TRUE(why) << to_string(why);
    ASSERT_EQ(got.size(), sent.size());
    for (size_t i = 0; i < sent.size(); ++i) ASSERT_TRUE(same(sent[i], got[i])) << "message " << i;
    EXPECT_FALSE(reader.mid_message());
  }
}

TEST(Frame, AlignsEveryPartInMemory) {
  auto [got, why] =
    feed(bytes_of({sample(1, 3, {5, 100, 70'000, 1'100'000}), sample(2, 1, {1, 1, 1})}));
  ASSERT_TRUE(why) << to_string(why);
  ASSERT_EQ(got.size(), 2u);
  for (const auto& m : got) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(m.header.data()) % buffer_alignment, 0u);
    for (const auto& x : m.payload)
      EXPECT_EQ(reinterpret_cast<uintptr_t>(x.data()) % buffer_alignment, 0u);
  }
}

TEST(Frame, LetsSmallMessagesOfOtherChannelsGoBetweenThePartsOfALargeOne) {
  auto large = sample(1, 1, {40 << 20}, 1);
  auto small = sample(2, 1, {100}, 2);
  auto [got, why] = feed(bytes_of({large, small}));
  ASSERT_TRUE(why) << to_string(why);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_TRUE(same(got[0], small));
  EXPECT_TRUE(same(got[1], large));
}

TEST(Frame, KeepsTheOrderWithinAChannel) {
  std::vector<link_message> sent;
  for (uint32_t i = 0; i < 60; ++i)
    sent.push_back(sample(i, 1 + i, {i % 7 == 0 ? size_t{3} << 20 : i * 10}, i % 3));
  auto [got, why] = feed(bytes_of(sent));
  ASSERT_TRUE(why) << to_string(why);
  ASSERT_EQ(got.size(), sent.size());
  for (uint32_t channel = 0; channel < 3; ++channel) {
    uint32_t next = channel;
    for (const auto& m : got)
      if (m.channel == channel) {
        EXPECT_TRUE(same(m, sent[next])) << "message " << next;
        next += 3;
      }
  }
}

TEST(Frame, WritesLargeSegmentsFromWhereTheyAre) {
  frame_writer writer;
  auto m = sample(1, 2, {1 << 19, 10, 1 << 19});
  writer.push(m);
  size_t in_place = 0;
  for (const auto& x : writer.batch())
    for (const auto& segment : m.payload) in_place += x.iov_base == segment.data() ? 1 : 0;
  EXPECT_EQ(in_place, 2u);
  // The parts are: prefix, sizes and header; the first segment; the small one; the last segment.
  EXPECT_EQ(writer.batch().size(), 4u);
}

TEST(Frame, GathersManySmallMessagesIntoOnePiece) {
  frame_writer writer;
  for (uint64_t i = 0; i < 100; ++i) writer.push(sample(i, 2, {50}));
  EXPECT_EQ(writer.batch().size(), 1u);
}

// -- bad bytes -----------------------------------------------------------------

/// The bytes of a hello, and after them a frame's prefix and the sizes of its segments.
std::vector<std::byte> with_frame(frame_prefix prefix, const std::vector<uint64_t>& sizes = {}) {
  auto out = bytes_of({});
  auto at = out.size();
  out.resize(at + sizeof(prefix) + 8 * sizes.size());
  store(prefix, out.data() + at);
  for (size_t i = 0; i < sizes.size(); ++i)
    store_u64(sizes[i], out.data() + at + sizeof(prefix) + 8 * i);
  return out;
}

struct bad_frame {
  const char* name;
  frame_prefix prefix;
  std::vector<uint64_t> sizes;
  refusal cause;
};

class BadFrame : public ::testing::TestWithParam<bad_frame> {};

TEST_P(BadFrame, IsRefusedByItsCause) {
  const auto& x = GetParam();
  frame_reader reader{{}};
  std::mt19937_64 random{1};
  auto bytes = with_frame(x.prefix, x.sizes);
  auto [got, why] = feed(reader, bytes, random, 1000);
  EXPECT_FALSE(why);
  EXPECT_EQ(reader.cause(), x.cause) << to_string(why);
  EXPECT_TRUE(got.empty());
}

constexpr auto m = frame_magic;
INSTANTIATE_TEST_SUITE_P(
  Each, BadFrame,
  ::testing::Values(
    bad_frame{"Magic", {.magic = 1}, {}, refusal::bad_magic},
    bad_frame{"Flags", {.magic = m, .flags = 8}, {}, refusal::bad_frame},
    bad_frame{
      "PingWithChannel", {.magic = m, .flags = flag_ping, .channel = 1}, {}, refusal::bad_frame},
    bad_frame{"PingWithPayload",
              {.magic = m, .flags = flag_ping, .payload_bytes = 1},
              {},
              refusal::bad_frame},
    bad_frame{"PingThatContinues",
              {.magic = m, .flags = flag_ping | flag_continuation},
              {},
              refusal::bad_frame},
    bad_frame{
      "SecondHelloAsPing", {.magic = m, .flags = flag_ping | flag_hello}, {}, refusal::bad_frame},
    bad_frame{"Reserved", {.magic = m, .reserved = 1}, {}, refusal::bad_frame},
    bad_frame{"SecondHello", {.magic = m, .flags = flag_hello}, {}, refusal::bad_frame},
    bad_frame{"HeaderOfHalfWords", {.magic = m, .header_bytes = 9}, {}, refusal::bad_frame},
    bad_frame{"HugeHeader", {.magic = m, .header_bytes = (4u << 20) + 8}, {}, refusal::oversized},
    bad_frame{"ManySegments", {.magic = m, .segments = 4097}, {}, refusal::oversized},
    bad_frame{
      "HugeFrame", {.magic = m, .payload_bytes = max_frame_payload + 1}, {}, refusal::oversized},
    bad_frame{
      "HugeSegment", {.magic = m, .segments = 1, .payload_bytes = 1}, {~0ull}, refusal::oversized},
    bad_frame{"SumThatOverflows",
              {.magic = m, .segments = 3, .payload_bytes = 1},
              {1ull << 39, 1ull << 39, ~0ull - (1ull << 40) + 5},
              refusal::oversized},
    bad_frame{"PayloadBeyondSegments",
              {.magic = m, .segments = 1, .payload_bytes = 9},
              {8},
              refusal::bad_frame},
    bad_frame{
      "NoProgress", {.magic = m, .segments = 1, .payload_bytes = 0}, {8}, refusal::bad_frame},
    bad_frame{"OrphanContinuation",
              {.magic = m, .flags = flag_continuation, .channel = 3, .payload_bytes = 8},
              {},
              refusal::bad_frame}),
  [](const auto& info) { return std::string{info.param.name}; });

TEST(Frame, BoundsMessagesWhoseHeaderAloneIsTooLarge) {
  for (const auto segments : {0u, 1u}) {
    frame_reader reader{{.message_bytes = 4096}};
    std::mt19937_64 random{1};
    const auto bytes = with_frame(
      {.magic = m, .segments = segments, .header_bytes = 8192, .payload_bytes = segments},
      std::vector<uint64_t>(segments, 8));
    const auto [got, why] = feed(reader, bytes, random, 1000);
    EXPECT_EQ(why.code(), status_code::resource_exhausted);
    EXPECT_EQ(reader.cause(), refusal::oversized);
  }
}

TEST(Frame, BoundsTheSegmentsOfAllMessagesUnderWay) {
  // Of each message only the sizes of all its segments and the first byte of its payload arrive.
  std::vector<std::byte> bytes = bytes_of({});
  const auto hello_size = bytes.size();
  const std::vector<uint64_t> sizes(4096, 1);
  const auto begin = [&](uint32_t channel) {
    auto next = with_frame(
      {.magic = frame_magic, .channel = channel, .segments = 4096, .payload_bytes = 1}, sizes);
    next.push_back(std::byte{});
    bytes.insert(bytes.end(), next.begin() + static_cast<ptrdiff_t>(hello_size), next.end());
  };
  for (uint32_t channel = 0; channel < 63; ++channel) begin(channel);
  EXPECT_TRUE(feed(bytes).second);
  const auto few = bytes;
  for (uint32_t channel = 63; channel < 65; ++channel) begin(channel);
  EXPECT_EQ(feed(bytes).second.code(), status_code::resource_exhausted);
  // When a message is complete, another one may begin.
  bytes = few;
  for (uint32_t channel = 63; channel < 80; ++channel) {
    const auto end = with_frame({.magic = frame_magic,
                                 .flags = flag_continuation,
                                 .channel = channel - 63,
                                 .payload_bytes = 4095});
    bytes.insert(bytes.end(), end.begin() + static_cast<ptrdiff_t>(hello_size), end.end());
    bytes.resize(bytes.size() + 4095);
    begin(channel);
  }
  const auto [got, why] = feed(bytes);
  EXPECT_TRUE(why) << to_string(why);
  EXPECT_EQ(got.size(), 17u);
}

TEST(Frame, RefusesAMessageInTheMiddleOfAnotherOfItsChannel) {
  auto bytes =
    with_frame({.magic = frame_magic, .channel = 1, .segments = 1, .payload_bytes = 8}, {16});
  bytes.resize(bytes.size() + 8);
  auto again = with_frame({.magic = frame_magic, .channel = 1});
  bytes.insert(bytes.end(), again.end() - sizeof(frame_prefix), again.end());
  EXPECT_FALSE(feed(bytes).second);
}

TEST(Frame, RefusesTheFirstByteOfSomethingElse) {
  frame_reader reader{{}};
  std::mt19937_64 random{1};
  auto [got, why] = feed(reader, std::as_bytes(std::span{"G", 1}), random, 1);
  EXPECT_EQ(why.code(), status_code::invalid_argument);
  EXPECT_NE(why.message().find("\"G\""), std::string::npos) << why.message();
  EXPECT_EQ(reader.cause(), refusal::bad_magic);
}

TEST(Frame, SurvivesDamagedBytes) {
  auto seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random{seed};
  auto good = bytes_of({sample(1, 4, {100, 2000, 0}), sample(2, 1, {1'500'000}, 2),
                        sample(3, 2, {10}), sample(4, 8, {70'000, 5, 5}, 2)});
  for (int i = 0; i < 3000; ++i) {
    auto bytes = good;
    for (auto flips = 1 + random() % 4; flips != 0; --flips) {
      // Most of the damage is in the first 3,000 bytes, where the lengths are.
      auto range = random() % 2 == 0 ? bytes.size() : std::min<size_t>(bytes.size(), 3000);
      bytes[random() % range] ^= std::byte(1 + random() % 255);
    }
    bytes.resize(random() % 8 == 0 ? random() % bytes.size() : bytes.size());
    frame_reader reader{{.message_bytes = 64 << 20}};
    feed(reader, bytes, random, 1 << 18);
  }
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::byte> bytes(random() % 300);
    for (auto& x : bytes) x = std::byte(random());
    frame_reader reader{{}};
    feed(reader, bytes, random, 100);
  }
}

TEST(Frame, PassesPingsBetweenAnyTwoFrames) {
  std::vector<std::byte> ping(sizeof(frame_prefix));
  store({.magic = frame_magic, .flags = flag_ping}, ping.data());
  const auto whole = sample(1, 2, {size_t{3} << 20, 10});
  const auto good = bytes_of({whole});
  // Copies the frames of the message with a ping before each. The size of a frame is calculated
  // from its prefix.
  std::vector<std::byte> mixed;
  const auto hello_size = bytes_of({}).size();
  auto at = hello_size;
  mixed.assign(good.begin(), good.begin() + static_cast<ptrdiff_t>(at));
  while (at < good.size()) {
    mixed.insert(mixed.end(), ping.begin(), ping.end());
    const auto prefix = load_prefix(good.data() + at);
    ASSERT_EQ(prefix.magic, frame_magic);
    const auto size =
      sizeof(prefix) + 8 * prefix.segments + prefix.header_bytes + prefix.payload_bytes;
    mixed.insert(mixed.end(), good.begin() + static_cast<ptrdiff_t>(at),
                 good.begin() + static_cast<ptrdiff_t>(at + size));
    at += size;
  }
  mixed.insert(mixed.end(), ping.begin(), ping.end());
  std::mt19937_64 random{1};
  for (auto largest : {size_t{1} << 20, size_t{1000}, size_t{7}}) {
    frame_reader reader{{}};
    auto [got, why] = feed(reader, mixed, random, largest);
    ASSERT_TRUE(why) << to_string(why);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_TRUE(same(got[0], whole));
    EXPECT_FALSE(reader.mid_message());
  }
}

TEST(Frame, APingBeforeTheHelloIsRefused) {
  std::vector<std::byte> ping(sizeof(frame_prefix));
  store({.magic = frame_magic, .flags = flag_ping}, ping.data());
  EXPECT_FALSE(feed(ping).second);
}

TEST(Frame, TheWriterCountsNoPing) {
  frame_writer writer;
  writer.push_ping();
  EXPECT_EQ(drain(writer).size(), sizeof(frame_prefix));
  EXPECT_EQ(writer.take_finished(), 0u);
}

TEST(Hello, CarriesTheIntervalOfPings) {
  const auto back = decode_hello(encode(link_hello{.ping_every = std::chrono::milliseconds{250}}));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->ping_every, std::chrono::milliseconds{250});
  EXPECT_TRUE(back->knows_pings());
  EXPECT_FALSE(link_hello{.protocol_minor = 0}.knows_pings());
  const auto rare = decode_hello(encode(link_hello{.ping_every = std::chrono::minutes{61}}));
  ASSERT_FALSE(rare);
  EXPECT_NE(rare.status().message().find("at most an hour"), std::string::npos);
}

TEST(Hello, KeepsTextsWithAZeroInside) {
  const std::string text{"a\0b", 3};
  const auto back = decode_hello(encode(link_hello{.boot_id = text, .role = text}));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->boot_id, text);
  EXPECT_EQ(back->role, text);
}

TEST(Frame, TellsAWholeMessageFromATruncatedOne) {
  auto bytes = bytes_of({sample(1, 2, {500, 500})});
  for (auto missing : {size_t{1}, size_t{400}, size_t{900}, size_t{1030}}) {
    frame_reader reader{{}};
    std::mt19937_64 random{1};
    feed(reader, std::span{bytes}.first(bytes.size() - missing), random, 64);
    EXPECT_TRUE(reader.mid_message()) << missing;
  }
}

} // namespace
} // namespace headrace::detail
