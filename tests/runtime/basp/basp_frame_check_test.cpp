#include "headrace/runtime/basp/basp_frame_check.hpp"

#include "headrace/runtime/caf/port.hpp"
#include "tests/runtime/basp/basp_frames.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ostream>

namespace headrace::detail {

static void PrintTo(const basp_verdict& x, std::ostream* out) {
  *out << static_cast<int>(x.what) << " " << to_string(x.cause) << " " << x.problem;
}

namespace {

using namespace test;
using enum basp_refusal;
using fate = basp_verdict::fate;
using side = basp_frame_check::side;

constexpr char us = 'u', them = 't', other = 'o';

basp_verdict judge(basp_frame_check& check, const basp_frame& x) {
  const auto verdict = check.header(x.header);
  return verdict.what != fate::pass || x.payload.empty() ? verdict
                                                         : check.payload(x.header, x.payload);
}

testing::AssertionResult is(const basp_verdict& x, fate what) {
  return x.what == what ? testing::AssertionSuccess()
                        : testing::AssertionFailure() << testing::PrintToString(x);
}
testing::AssertionResult refused(const basp_verdict& x, basp_refusal cause) {
  return x.what == fate::refuse && x.cause == cause
           ? testing::AssertionSuccess()
           : testing::AssertionFailure() << testing::PrintToString(x);
}

/// A check of a connection whose handshake is complete.
basp_frame_check greeted(side mine = side::accepted) {
  basp_frame_check out{mine, basp_node_named(us)};
  EXPECT_TRUE(is(
    judge(out, mine == side::accepted ? basp_client_handshake(them) : basp_server_handshake(them)),
    fate::pass));
  EXPECT_TRUE(out.greeted());
  return out;
}
basp_verdict after_greeting(const basp_frame& x) {
  auto check = greeted();
  return judge(check, x);
}
std::string envelope_of(size_t size) { return basp_bytes{}.envelope(size); }

TEST(BaspFrameCheck, PassesTheConversationOfAClient) {
  auto check = greeted();
  for (const auto& x :
       {basp_client_handshake(them, basp_select_connection), basp_direct(envelope_of(64)),
        basp_direct(envelope_of(0)), basp_direct(envelope_of(8), basp_response | basp_async | 3),
        basp_direct(basp_bytes{}.types("@<>+@error").error("no"), basp_response | 3),
        basp_monitor(them, us), basp_down(them, us, basp_bytes{}.error("stopped")),
        basp_heartbeat()})
    EXPECT_TRUE(is(judge(check, x), fate::pass)) << to_string(x.header);
}
TEST(BaspFrameCheck, PassesTheConversationOfAServer) {
  auto check = greeted(side::connected);
  for (const auto& x : {basp_heartbeat(), basp_monitor(them, us), basp_direct(envelope_of(64))})
    EXPECT_TRUE(is(judge(check, x), fate::pass)) << to_string(x.header);
}
TEST(BaspFrameCheck, RefusesAllButAHandshakeAtFirst) {
  for (const auto mine : {side::accepted, side::connected})
    for (const auto& x :
         {basp_direct(envelope_of(8)), basp_monitor(them, us),
          basp_down(them, us, basp_bytes{}.error("x")), basp_heartbeat(),
          mine == side::accepted ? basp_server_handshake(them) : basp_client_handshake(them)}) {
      basp_frame_check check{mine, basp_node_named(us)};
      EXPECT_TRUE(refused(judge(check, x), out_of_turn)) << to_string(x.header);
      EXPECT_FALSE(check.greeted());
    }
}
TEST(BaspFrameCheck, RefusesTheBytesThatWereSeenToEndTheFramework) {
  basp_frame_check check{side::accepted, basp_node_named(us)};
  const auto bytes = std::string(8, '\0') + std::string(64, '\xFF');
  EXPECT_TRUE(refused(
    check.header(basp_header::parse(std::span<const char, basp_header::bytes>{bytes.data(), 32})),
    out_of_turn));
  // Handshakes without content are refused even where a handshake is expected.
  EXPECT_TRUE(refused(check.header({.operation = 1}), malformed));
  basp_frame_check other_side{side::connected, basp_node_named(us)};
  EXPECT_TRUE(refused(other_side.header({.data = basp_version}), malformed));
}
TEST(BaspFrameCheck, LetsAProbeLeave) {
  basp_frame_check check{side::accepted, basp_node_named(us)};
  EXPECT_TRUE(is(check.header({}), fate::leave));
  EXPECT_TRUE(refused(greeted().header({}), out_of_turn));
}
TEST(BaspFrameCheck, IgnoresOurOwnHandshakeWhenWeConnectToOurselves) {
  basp_frame_check check{side::accepted, basp_node_named(us)};
  EXPECT_TRUE(is(judge(check, basp_client_handshake(us)), fate::ignore));
  EXPECT_FALSE(check.greeted());
}
TEST(BaspFrameCheck, RefusesASecondNameAndAThirdHandshake) {
  auto check = greeted();
  EXPECT_TRUE(refused(judge(check, basp_client_handshake(them)), malformed))
    << "the second one chooses the connection";
  EXPECT_TRUE(
    refused(judge(check, basp_client_handshake(other, basp_select_connection)), impostor));
  EXPECT_TRUE(is(judge(check, basp_client_handshake(them, basp_select_connection)), fate::pass));
  EXPECT_TRUE(
    refused(judge(check, basp_client_handshake(them, basp_select_connection)), out_of_turn));
  EXPECT_TRUE(refused(after_greeting(basp_server_handshake(them)), out_of_turn));
}
TEST(BaspFrameCheck, RefusesNamesThatNoNodeHas) {
  for (const std::string& name :
       {std::string{basp_bytes{}.node(them, 0x3A9)}, std::string{basp_bytes{}.node('\0')},
        std::string(32, '\0'), std::string(32, '\xFF'),
        std::string{
          basp_bytes{}.number(basp_usual_node).number(uint32_t{0}).raw(std::string(20, 'x'))}}) {
    basp_frame_check check{side::accepted, basp_node_named(us)};
    EXPECT_TRUE(
      refused(judge(check, make_basp_frame(basp_operation::client_handshake, name)), malformed));
    EXPECT_FALSE(check.greeted());
  }
}
TEST(BaspFrameCheck, RefusesServersHandshakesWhoseSizesLie) {
  const auto whole = basp_server_handshake(them);
  for (size_t size = 1; size < whole.payload.size(); ++size) {
    basp_frame_check check{side::connected, basp_node_named(us)};
    auto cut = whole;
    cut.payload.resize(size);
    EXPECT_TRUE(refused(judge(check, std::move(cut).sized()), malformed)) << size;
  }
  for (const uint64_t names : {65ul, 1ul << 31, 0xFFFF'FFFFul, ~0ul}) {
    basp_frame_check check{side::connected, basp_node_named(us)};
    EXPECT_TRUE(refused(
      judge(check, make_basp_frame(basp_operation::server_handshake,
                                   basp_bytes{}.node(them).count(names), {.data = basp_version})),
      malformed))
      << names;
  }
}
TEST(BaspFrameCheck, RefusesWhatIsTooLargeByItsHeader) {
  auto large = basp_direct(envelope_of(8)).header;
  large.payload_bytes = longest_basp_payload;
  EXPECT_TRUE(is(greeted().header(large), fate::pass));
  large.payload_bytes = longest_basp_payload + 1;
  EXPECT_TRUE(refused(greeted().header(large), oversized));
  large.payload_bytes = 0xFFFF'FFFF;
  EXPECT_TRUE(refused(greeted().header(large), oversized));
  basp_frame_check check{side::connected, basp_node_named(us)};
  auto greeting = basp_server_handshake(them).header;
  greeting.payload_bytes = longest_basp_greeting + 1;
  EXPECT_TRUE(refused(check.header(greeting), oversized));
}
TEST(BaspFrameCheck, HasRoomForTheLargestMessage) {
  const auto envelope = envelope_of(max_message_bytes);
  EXPECT_TRUE(is(after_greeting(basp_direct(envelope)), fate::pass));
  const std::string larger =
    basp_bytes{}.types("@<>+headrace::detail::envelope").count(max_message_bytes + 8);
  EXPECT_TRUE(refused(after_greeting(basp_direct(larger)), foreign));
}
TEST(BaspFrameCheck, RefusesMessagesOfOtherContent) {
  const auto error = std::string{basp_bytes{}.types("@<>+@error").error("x")};
  for (const auto& content : {
         error, // in a message that is not a response, an error would end the receiving actor
         std::string{basp_bytes{}.types("@<>+@exit")},
         std::string{basp_bytes{}.types("@<>")},
         std::string{basp_bytes{}.types("@<>+@atom+@strong_actor_ptr")},
         std::string{basp_bytes{}.types("@<>+headrace::detail::envelope+@str").count(0).text("")},
         std::string{basp_bytes{}.types("")},
         std::string{
           basp_bytes{}.number(uint16_t{1}).text("@<>+headrace::detail::envelope").count(0)},
         std::string{basp_bytes{}.envelope(8)} + "x",
         std::string{basp_bytes{}.types("@<>+headrace::detail::envelope").count(9).raw("12345678")},
         std::string{
           basp_bytes{}.types("@<>+headrace::detail::envelope").raw(std::string(9, '\xFF'))},
         std::string{basp_bytes{}.types("@<>+headrace::detail::envelope")},
       })
    EXPECT_TRUE(refused(after_greeting(basp_direct(content)), foreign)) << content;
  for (const std::string& tail :
       {std::string{basp_bytes{}.types("@<>+@str").text("no")} + "x",
        std::string{basp_bytes{}.types("@<>+@str").count(0xFFFF'FFFF)},
        std::string{basp_bytes{}.types("@<>+@charbuf").count(0xFFFF'FFFF)},
        std::string{basp_bytes{}.types("@<>+")}, std::string{basp_bytes{}.types("@<>x")},
        std::string{basp_bytes{}.types("@<>+@strset").count(0xFFFF'FFFF)}, std::string{}}) {
    const std::string content =
      basp_bytes{}.types("@<>+@error").number(uint8_t{5}).number(uint64_t{9}).raw(tail);
    EXPECT_TRUE(refused(after_greeting(basp_direct(content, basp_response | 3)), foreign)) << tail;
  }
}
TEST(BaspFrameCheck, RefusesErrorsInErrorsWithoutEnd) {
  const auto nested = [](int depth) {
    std::string out = basp_bytes{}.types("@<>+@error");
    for (int i = 0; i < depth; ++i)
      out += basp_bytes{}.number(uint8_t{5}).number(uint64_t{9}).types("@<>+@error");
    return out + std::string{basp_bytes{}.error("the first")};
  };
  EXPECT_TRUE(is(after_greeting(basp_direct(nested(2), basp_response | 3)), fate::pass));
  EXPECT_TRUE(refused(after_greeting(basp_direct(nested(10'000), basp_response | 3)), foreign));
}
TEST(BaspFrameCheck, RefusesIdsThatTheFrameworkTakesForSomethingElse) {
  for (const int bit : {61, 62})
    EXPECT_TRUE(
      refused(after_greeting(basp_direct(envelope_of(8), uint64_t{1} << bit | 5)), foreign));
}
TEST(BaspFrameCheck, RefusesMessagesByWayOfOthers) {
  const std::string by_way = basp_bytes{}.count(1).number(uint64_t{3}).node(other).envelope(8);
  auto frame = make_basp_frame(basp_operation::direct_message, by_way,
                               {.data = 5, .source_actor = 7, .dest_actor = 12});
  EXPECT_TRUE(refused(after_greeting(frame), foreign));
  frame.header.operation = static_cast<uint8_t>(basp_operation::routed_message);
  EXPECT_TRUE(refused(after_greeting(frame), foreign));
}
TEST(BaspFrameCheck, IgnoresTheQuestionForASpawnServerAndRefusesOtherNames) {
  EXPECT_EQ(basp_spawn_server, static_cast<uint64_t>(port::word("SpawnServ")));
  EXPECT_EQ(basp_usual_node, static_cast<uint64_t>(port::word("default")));
  auto named = basp_direct("whatever", basp_async, 7, basp_spawn_server);
  named.header.flags = basp_named_receiver;
  EXPECT_TRUE(is(after_greeting(named), fate::ignore));
  named.header.dest_actor = static_cast<uint64_t>(port::word("ConfigServ"));
  EXPECT_TRUE(refused(after_greeting(named), foreign));
}
TEST(BaspFrameCheck, RefusesToSpeakOfOthersActors) {
  const std::string why = basp_bytes{}.error("x");
  EXPECT_TRUE(refused(after_greeting(basp_monitor(other, us)), impostor));
  EXPECT_TRUE(refused(after_greeting(basp_monitor(them, other)), impostor));
  EXPECT_TRUE(refused(after_greeting(basp_down(other, us, why)), impostor));
  EXPECT_TRUE(refused(after_greeting(basp_down(them, other, why)), impostor));
}
TEST(BaspFrameCheck, RefusesMoreSendersThanANodeHasAndForgetsThoseThatEnd) {
  auto check = greeted();
  const auto envelope = envelope_of(0);
  for (uint64_t i = 1; i <= basp_frame_check::most_senders; ++i)
    ASSERT_TRUE(is(judge(check, basp_direct(envelope, 5, i)), fate::pass));
  EXPECT_TRUE(is(judge(check, basp_direct(envelope, 5, 1)), fate::pass)) << "known";
  ASSERT_TRUE(is(judge(check, basp_down(them, us, basp_bytes{}.error("x"), 1)), fate::pass));
  EXPECT_TRUE(is(judge(check, basp_direct(envelope, 5, 1 << 30)), fate::pass));
  EXPECT_TRUE(refused(judge(check, basp_direct(envelope, 5, 1 << 29)), foreign));
}
TEST(BaspFrameCheck, RefusesHeadersWithFieldsThatAreNeverUsed) {
  for (auto x :
       {basp_heartbeat(), basp_monitor(them, us), basp_down(them, us, basp_bytes{}.error("x")),
        basp_direct(envelope_of(8)), basp_client_handshake(them, basp_select_connection)}) {
    const auto bent = [&](auto change) {
      auto header = x.header;
      change(header);
      return greeted().header(header);
    };
    EXPECT_TRUE(refused(bent([](auto& h) { h.padding = 1; }), malformed));
    EXPECT_TRUE(refused(bent([](auto& h) { h.flags = 4; }), malformed));
    EXPECT_TRUE(refused(bent([](auto& h) { h.payload_bytes = h.payload_bytes == 0; }), malformed))
      << to_string(x.header);
  }
  EXPECT_TRUE(refused(greeted().header({.operation = 7}), malformed));
}

} // namespace
} // namespace headrace::detail
