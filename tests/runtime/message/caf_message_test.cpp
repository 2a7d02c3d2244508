#include "headrace/runtime/message/envelope.hpp"
#include "tests/support/actor_fixture.hpp"

#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <gtest/gtest.h>

#include <random>

using namespace std::chrono_literals;

namespace headrace::detail {
namespace {

using bytes = std::vector<char>;

bytes serialise(caf::actor_system& system, const caf::message& from) {
  bytes out;
  caf::binary_serializer sink{system, out};
  EXPECT_FALSE(sink(const_cast<caf::message&>(from)));
  return out;
}

envelope sample() { return make_failure(not_found("no dataset 'mnist'"), 7); }

TEST(CafMessage, TravelsAndComesBack) {
  test::actor_node node;
  auto wire = serialise(node.system, caf::make_message(sample()));
  caf::message back;
  caf::binary_deserializer source{node.system, wire};
  ASSERT_FALSE(source(back));
  EXPECT_EQ(status_of(back.get_as<envelope>(0)).message(), "no dataset 'mnist'");
}

TEST(CafMessage, IsSharedInsideAProcess) {
  auto x = sample();
  auto carried = caf::make_message(x);
  EXPECT_EQ(carried.get_as<envelope>(0).bytes().data(), x.bytes().data());
}

TEST(CafMessage, ThatIsNotValidTravelsAsOneThatIsNot) {
  test::actor_node node;
  auto wire = serialise(node.system, caf::make_message(envelope::broken("bent")));
  caf::message back;
  caf::binary_deserializer source{node.system, wire};
  ASSERT_FALSE(source(back));
  EXPECT_FALSE(back.get_as<envelope>(0).valid());
}

// CAF silently drops a message whose deserialisation fails, so the deserialisation of an envelope
// must succeed for all bytes.
TEST(CafMessage, LoadsAnyBytesWithoutAFailedDeserialisation) {
  auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random{seed};
  test::actor_node node;
  auto x = sample();
  bytes good;
  caf::binary_serializer sink{node.system, good};
  ASSERT_FALSE(sink(x));
  size_t valid = 0, invalid = 0;
  auto attempt = [&](const bytes& wire) {
    envelope y;
    caf::binary_deserializer source{node.system, wire};
    ASSERT_FALSE(source(y));
    y.valid() ? ++valid : ++invalid;
    EXPECT_NO_THROW(static_cast<void>(status_of(y)));
  };
  for (size_t n = 0; n < good.size(); ++n)
    attempt({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n)});
  EXPECT_EQ(valid, 0u);
  for (size_t i = 0; i < good.size() * 8; ++i) {
    auto bad = good;
    bad[i / 8] = static_cast<char>(bad[i / 8] ^ (1 << (i % 8)));
    attempt(bad);
  }
  for (int i = 0; i < 20'000; ++i) {
    auto bad = good;
    for (int k = 0; k < 4; ++k) bad[random() % bad.size()] = static_cast<char>(random());
    attempt(bad);
  }
  attempt(bytes(5, char(0xff)));
  attempt(bytes(64, char(0xff)));
  EXPECT_GT(valid, 0u);
  EXPECT_GT(invalid, 0u);
}

// -- over a network ---------------------------------------------------------------------

/// An actor that answers an error with the same error, and a message that cannot be decoded with
/// the number of such messages.
class echo_state {
public:
  using handle_type = published_actor;
  static inline const char* name = "test.echo";
  explicit echo_state(port::self_pointer<handle_type>) {}
  port::behavior<handle_type> make_behavior() {
    return {[this](const envelope& in) -> caf::result<envelope> {
      if (!in.valid())
        return make_bad_message(++bad_, in.status().message());
      return in->isFailure()
               ? in
               : make_unsupported(static_cast<uint16_t>(in->which()), {}, in->getRequestId());
    }};
  }

private:
  uint64_t bad_ = 0;
};

class OverTheNetwork : public testing::Test {
protected:
  result<envelope> ask(const envelope& x) {
    auto pending = net.b.self->request(remote, caf::infinite, x);
    net.dispatch();
    result<envelope> answer = internal_error("no answer");
    if (net.b.self->has_next_message())
      pending.receive([&](envelope& x) { answer = x; },
                      [&](caf::error& why) { answer = to_status(why); });
    return answer;
  }
  void SetUp() override {
    auto joined = net.join(echo);
    ASSERT_TRUE(joined) << to_string(joined.status());
    remote = *joined;
  }
  void TearDown() override {
    port::ask_to_exit(echo, caf::exit_reason::kill);
    net.dispatch();
  }
  test::actor_network net;
  published_actor echo = port::spawn<echo_state>(net.a.system);
  published_actor remote;
};

TEST_F(OverTheNetwork, APublishedActorAnswers) {
  auto x = ask(sample());
  ASSERT_TRUE(x) << to_string(x.status());
  EXPECT_EQ(status_of(*x).message(), "no dataset 'mnist'");
}

TEST_F(OverTheNetwork, AMalformedMessageIsCountedAndAnswered) {
  for (uint64_t i = 1; i <= 3; ++i) {
    auto x = ask(envelope::broken("bent"));
    ASSERT_TRUE(x) << to_string(x.status());
    ASSERT_TRUE((*x)->isBadMessage());
    EXPECT_EQ((*x)->getBadMessage().getCount(), i);
  }
  EXPECT_TRUE(ask(sample()));
}

TEST_F(OverTheNetwork, AnUnknownArmIsAnsweredAsUnsupported) {
  auto x = ask(make_ok(5));
  ASSERT_TRUE(x);
  EXPECT_EQ(status_of(*x).code(), status_code::unimplemented);
}

TEST_F(OverTheNetwork, ALostConnectionIsADownMessage) {
  net.b.self->monitor(remote);
  net.dispatch();
  net.cut();
  ASSERT_TRUE(net.b.self->has_next_message());
  net.b.self->receive([](const caf::down_msg& down) {
    EXPECT_EQ(to_status(down.reason).code(), status_code::unavailable);
  });
}

// -- in one process -----------------------------------------------------------------------

struct event {
  std::unique_ptr<int> value; // makes the event uncopyable
};
using local_actor = port::handle<caf::result<local<int>>(local<event>)>;

class local_state {
public:
  using handle_type = local_actor;
  static inline const char* name = "test.local";
  explicit local_state(port::self_pointer<handle_type>) {}
  port::behavior<handle_type> make_behavior() {
    return {[](const local<event>& x) { return make_local<int>(*x->value + 1); }};
  }
};

TEST(LocalMessage, CarriesAnyValueByPointer) {
  test::actor_node node;
  auto actor = port::spawn<local_state>(node.system);
  auto answer = node.ask<local<int>>(actor, make_local<event>(std::make_unique<int>(41)));
  ASSERT_TRUE(answer) << to_string(answer.status());
  EXPECT_EQ(**answer, 42);
  node.end(actor);
}

// -- errors -----------------------------------------------------------------------------------

TEST(CafError, CarriesAStatusBothWays) {
  auto why = not_found("no dataset 'mnist'");
  EXPECT_EQ(to_status(to_error(why)), why);
  EXPECT_FALSE(to_error(status{}));
  EXPECT_TRUE(to_status(caf::error{}).ok());
}

TEST(CafError, NamesTheFrameworksOwnErrorsByCause) {
  auto code = [](auto x) { return to_status(caf::make_error(x)).code(); };
  EXPECT_EQ(code(caf::sec::request_timeout), status_code::deadline_exceeded);
  EXPECT_EQ(code(caf::sec::request_receiver_down), status_code::unavailable);
  EXPECT_EQ(code(caf::exit_reason::remote_link_unreachable), status_code::unavailable);
  EXPECT_EQ(code(caf::exit_reason::kill), status_code::cancelled);
  EXPECT_EQ(code(caf::exit_reason::normal), status_code::ok);
}

} // namespace
} // namespace headrace::detail
