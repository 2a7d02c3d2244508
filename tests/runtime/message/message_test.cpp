#include "headrace/runtime/message/envelope.hpp"
#include "headrace/schemas/supervision.capnp.h"

#include <capnp/any.h>
#include <capnp/dynamic.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace headrace::detail {
namespace {

using tree = message<schema::SupervisionTree>;

tree sample() {
  return tree::make([](schema::SupervisionTree::Builder b) {
    b.setProcess("worker 17");
    auto roots = b.initRoots(2);
    roots[0].setPath("node");
    auto children = roots[0].initChildren(3);
    children[0].setId("listener");
    children[1].setId("worker");
    children[1].setRestarts(7);
    children[1].setLastReason("unavailable: connection to the peer was lost");
    children[1].initBelow().setPath("node/worker");
    children[1].getBelow().initChildren(1)[0].setId("task 4");
    roots[1].setPath("other");
  });
}

buffer copy(const buffer& x) { return buffer::copy_of(x.data(), x.size()); }

/// Reads all fields, as any user of the message might; throws if a pointer is invalid.
size_t read_all(const schema::Supervisor::Reader& x) {
  size_t sum = x.getPath().size() + x.getRestarts();
  for (auto child : x.getChildren())
    sum += child.getId().size() + child.getLastReason().size() + read_all(child.getBelow());
  return sum;
}
size_t read_all(const tree& x) {
  size_t sum = x->getProcess().size() + capnp::AnyStruct::Reader(*x).totalSize().wordCount;
  for (auto root : x->getRoots()) sum += read_all(root);
  return sum;
}

TEST(Message, ReadsBackWhatWasFilledIn) {
  auto x = sample();
  ASSERT_TRUE(x.valid());
  EXPECT_TRUE(x.status().ok());
  EXPECT_EQ(x->getProcess(), "worker 17");
  EXPECT_EQ(x->getRoots()[0].getChildren()[1].getBelow().getChildren()[0].getId(), "task 4");
}

TEST(Message, SurvivesTheWayThroughItsBytes) {
  auto x = sample();
  auto y = tree::parse(copy(x.bytes()));
  ASSERT_TRUE(y) << y.status().message();
  EXPECT_EQ(read_all(x), read_all(y));
}

TEST(Message, SharesItsWordsWithItsCopiesAndWithAlignedInput) {
  auto x = sample();
  const std::vector copies{x, x};
  EXPECT_EQ(x.bytes().data(), copies.back().bytes().data());
  auto z = tree::parse(x.bytes());
  EXPECT_EQ(x.bytes().data(), z.bytes().data());
}

TEST(Message, KeepsItsWordsAliveThroughItsBytes) {
  auto bytes = sample().bytes();
  EXPECT_TRUE(tree::parse(bytes));
}

TEST(Message, TakesInputOfAnyAlignment) {
  auto x = sample().bytes();
  mutable_buffer shifted{x.size() + 3};
  std::memcpy(shifted.data() + 3, x.data(), x.size());
  auto y = tree::parse(std::move(shifted).freeze().slice(3, x.size()));
  ASSERT_TRUE(y);
  EXPECT_EQ(y->getProcess(), "worker 17");
}

TEST(Message, CopiesAPartOfAnother) {
  auto part = message<schema::Supervisor>::copy_of(sample()->getRoots()[0]);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->getPath(), "node");
  EXPECT_LT(part.size_bytes(), sample().size_bytes());
}

TEST(Message, ThatIsNotValidReadsAsDefaultsAndSaysWhy) {
  for (auto& x : {tree{}, tree::parse({}), tree::broken("bent"),
                  tree::parse(buffer::copy_of("nonsense", 8))}) {
    EXPECT_FALSE(x.valid());
    EXPECT_EQ(x->getProcess(), "");
    EXPECT_EQ(x->getRoots().size(), 0u);
    EXPECT_EQ(x.status().code(), status_code::data_loss);
    EXPECT_FALSE(x.status().message().empty());
    EXPECT_EQ(x.size_bytes(), 0u);
  }
  EXPECT_EQ(tree::broken("bent").status().message(), "bent");
}

TEST(Message, RefusesMoreThanItsCap) {
  auto x = sample();
  auto y = tree::parse(copy(x.bytes()), x.size_bytes() - 1);
  EXPECT_FALSE(y);
  EXPECT_NE(y.status().message().find("at most"), std::string::npos);
  EXPECT_TRUE(tree::parse(copy(x.bytes()), x.size_bytes()));
}

TEST(Message, RefusesBytesAfterItsEnd) {
  buffer_builder more;
  auto x = sample().bytes();
  more.append(x.data(), x.size());
  more.append("8 bytes.", 8);
  EXPECT_FALSE(tree::parse(more.finish()));
}

TEST(Message, RefusesNestingBeyondItsLimit) {
  capnp::MallocMessageBuilder content;
  auto at = content.initRoot<schema::SupervisionTree>().initRoots(1)[0];
  for (int i = 0; i < 100; ++i) at = at.initChildren(1)[0].initBelow();
  auto words = capnp::messageToFlatArray(content);
  auto x = tree::parse(buffer::copy_of(words.begin(), words.asBytes().size()));
  EXPECT_FALSE(x);
}

// If the elements of a list have size zero, one word can announce a list of any length.
TEST(Message, RefusesAListThatIsLongerThanItsBytes) {
  alignas(8) const uint64_t words[] = {
    uint64_t{3} << 32,                                              // one segment of 3 words
    (uint64_t{0} << 2) | (uint64_t{0} << 32) | (uint64_t{2} << 48), // root: two pointers
    0,                                                              // process
    1 | (uint64_t{7} << 32) | (uint64_t{0} << 35),                  // roots: composite of 0 words
  };
  EXPECT_FALSE(tree::parse(buffer::copy_of(words, sizeof words)));
  alignas(8) const uint64_t amplified[] = {
    uint64_t{4} << 32,
    (uint64_t{2} << 48),
    0,
    1 | (uint64_t{7} << 32) | (uint64_t{0} << 35),
    uint64_t{0x1fffffff} << 2, // tag: 2^29 structs of no words
  };
  EXPECT_FALSE(tree::parse(buffer::copy_of(amplified, sizeof amplified)));
}

class Mutants : public testing::Test {
protected:
  void attempt(const std::vector<std::byte>& bytes) {
    auto x = tree::parse(buffer::copy_of(bytes.data(), bytes.size()));
    x.valid() ? ++accepted : ++refused;
    // An accepted message can be read to its end. A refused message reads as empty.
    EXPECT_NO_THROW(read_all(x));
  }
  std::vector<std::byte> good() {
    auto x = sample().bytes();
    return {x.data(), x.data() + x.size()};
  }
  size_t accepted = 0;
  size_t refused = 0;
};

TEST_F(Mutants, ThatAreTruncatedAreRefused) {
  auto bytes = good();
  for (size_t n = 0; n < bytes.size(); ++n)
    attempt({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n)});
  EXPECT_EQ(accepted, 0u);
}

TEST_F(Mutants, WithOneBitFlippedNeverThrowLater) {
  auto bytes = good();
  for (size_t i = 0; i < bytes.size() * 8; ++i) {
    auto bad = bytes;
    bad[i / 8] ^= std::byte{1} << (i % 8);
    attempt(bad);
  }
  EXPECT_GT(accepted, 0u); // A flipped bit in a text is another text.
  EXPECT_GT(refused, 0u);
}

TEST_F(Mutants, OfRandomBytesNeverThrowLater) {
  auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random{seed};
  auto bytes = good();
  for (int i = 0; i < 50'000; ++i) {
    auto bad = bytes;
    for (auto changes = 1 + random() % 6; changes > 0; --changes)
      bad[random() % bad.size()] = static_cast<std::byte>(random());
    attempt(bad);
  }
  for (int i = 0; i < 5'000; ++i) {
    std::vector<std::byte> bad((random() % 64) * 8);
    for (auto& x : bad) x = static_cast<std::byte>(random() % 4 == 0 ? random() : 0);
    attempt(bad);
  }
  EXPECT_GT(accepted, 0u);
  EXPECT_GT(refused, 0u);
}

TEST(Message, MayBeReadByManyThreadsAtOnce) {
  auto x = sample();
  auto expected = read_all(x);
  std::vector<std::thread> readers;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i)
    readers.emplace_back([&, mine = x] {
      for (int k = 0; k < 2000; ++k) wrong += read_all(mine) != expected;
    });
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
}

// -- envelopes ------------------------------------------------------------------------

/// An envelope of a newer peer, with an arm of its union that this build does not have.
envelope from_the_future(uint16_t arm) {
  auto bytes = make_ok(9).bytes();
  mutable_buffer changed{bytes.size()};
  std::memcpy(changed.data(), bytes.data(), bytes.size());
  // Byte 16 begins the root's data section: the request id, and then the 16-bit discriminant.
  auto* words = changed.data() + 16;
  std::memcpy(words + sizeof(uint64_t), &arm, sizeof arm);
  return envelope::parse(std::move(changed).freeze());
}

TEST(Envelope, CarriesAFailureWithCodeAndText) {
  auto why = not_found("no dataset 'mnist'");
  EXPECT_EQ(status_of(make_failure(why, 3)), why);
  EXPECT_EQ(make_failure(why, 3)->getRequestId(), 3u);
}

TEST(Envelope, ReadsAnUnknownFailureCodeAsUnknown) {
  auto x = make_envelope(0, [](schema::Envelope::Builder b) { b.initFailure().setCode(999); });
  EXPECT_EQ(status_of(x).code(), status_code::unknown);
}

TEST(Envelope, KeepsTextsWithAZeroInside) {
  const std::string text{"a\0b", 3};
  EXPECT_EQ(status_of(make_failure(not_found(text))), not_found(text));
  const auto x = hello_of(make_hello({.boot_id = text, .name = text}, 1));
  EXPECT_EQ(x.boot_id, text);
  EXPECT_EQ(x.name, text);
}

TEST(Envelope, SaysOkForOk) { EXPECT_TRUE(status_of(make_ok()).ok()); }

TEST(Envelope, WithAnotherAnswerThanIsDueIsAnError) {
  const auto view = make_envelope(1, [](schema::Envelope::Builder b) {
    b.initDispatcher().initDatasetDef().setDatasetId("seven");
  });
  const auto due = dispatcher_answer(view, schema::DispatcherMessage::DATASET_DEF);
  ASSERT_TRUE(due);
  EXPECT_EQ(due->getDatasetDef().getDatasetId(), "seven");
  for (const auto& x : {view, make_ok()})
    EXPECT_EQ(dispatcher_answer(x, schema::DispatcherMessage::STATUS).status().code(),
              status_code::data_loss);
  EXPECT_EQ(dispatcher_answer(make_failure(not_found("x")), schema::DispatcherMessage::STATUS)
              .status()
              .code(),
            status_code::not_found);
}

TEST(Envelope, CarriesAGreeting) {
  hello who{.node_id = 5, .role = schema::Role::WORKER, .boot_id = "b", .name = "worker 9"};
  auto x = hello_of(make_hello(who, 1));
  EXPECT_EQ(x.node_id, 5u);
  EXPECT_EQ(x.role, schema::Role::WORKER);
  EXPECT_EQ(x.boot_id, "b");
  EXPECT_EQ(x.name, "worker 9");
  EXPECT_TRUE(check_version(x).ok());
  EXPECT_EQ(hello_of(make_hello(who, 1, true)).node_id, 5u);
}

TEST(Envelope, NamesBothVersionsWhenTheyDoNotMatch) {
  hello who{.version = {uint16_t(our_protocol.major + 1), 4}, .name = "dispatcher 1"};
  auto why = check_version(who);
  EXPECT_EQ(why.code(), status_code::failed_precondition);
  EXPECT_NE(why.message().find("3.4"), std::string::npos) << why.message();
  EXPECT_NE(why.message().find("2.0"), std::string::npos) << why.message();
}

TEST(Envelope, WithAnArmOfTheFutureIsValid) {
  auto x = from_the_future(77);
  ASSERT_TRUE(x.valid()) << x.status().message();
  EXPECT_EQ(static_cast<uint16_t>(x->which()), 77);
  EXPECT_EQ(x->getRequestId(), 9u);
}

TEST(Envelope, AnswersToBadMessagesTellTheirNumberAndTheReason) {
  auto answer = make_bad_message(2, "bent again");
  EXPECT_EQ(answer->getBadMessage().getCount(), 2u);
  EXPECT_EQ(answer->getBadMessage().getReason(), "bent again");
  EXPECT_EQ(status_of(answer).code(), status_code::data_loss);
}

TEST(Envelope, AnswersToUnknownArmsTellArmAndVersion) {
  auto answer = make_unsupported(77, {}, 9);
  EXPECT_EQ(answer->getRequestId(), 9u);
  EXPECT_EQ(answer->getUnsupported().getArm(), 77);
  EXPECT_TRUE(answer->getUnsupported().isEnvelope());
  auto why = status_of(answer);
  EXPECT_EQ(why.code(), status_code::unimplemented);
  EXPECT_NE(why.message().find("77 of 'envelope'"), std::string::npos) << why.message();
  EXPECT_NE(status_of(make_unsupported(12, "worker")).message().find("12 of 'worker'"),
            std::string::npos);
}

} // namespace
} // namespace headrace::detail
