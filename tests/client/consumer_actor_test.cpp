#include "headrace/client/consumer_actor.hpp"

#include "headrace/runtime/node/system_visit.hpp"
#include "tests/client/support/outcomes.hpp"
#include "tests/support/patience.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <optional>

namespace headrace::detail::test {
namespace {

/// A program with an actor system of its own, and a cluster to read from.
class ConsumerActor : public testing::Test {
protected:
  struct config : caf::actor_system_config {
    config() { configure_consumers(*this); }
  };

  distribute dynamic(const std::string& job = {}) const {
    return distribute{
      {.processing_mode = sharding_policy::dynamic, .service = cluster_.target(), .job_name = job}};
  }
  /// Requests at most `most` elements. Returns the answer, which may be an error.
  result<local<consumed>> ask(const consumer_actor& from, uint64_t most) {
    system_visit inside;
    caf::scoped_actor self{system_};
    result<local<consumed>> out = internal_error("no answer");
    port::request(self.ptr(), from, patience, atom::more_v, most)
      .receive([&](const local<consumed>& x) { out = x; },
               [&](const caf::error& why) { out = to_status(why); });
    return out;
  }
  static void append(std::vector<int64_t>& to, const consumed& from) {
    for (size_t row = 0; row < from.size(); ++row) to.push_back(from[row][0].scalar<int64_t>());
  }
  static std::vector<int64_t> sorted(std::vector<int64_t> xs) {
    std::sort(xs.begin(), xs.end());
    return xs;
  }
  static std::vector<int64_t> numbers(int64_t count) {
    std::vector<int64_t> out(static_cast<size_t>(count));
    std::iota(out.begin(), out.end(), 0);
    return out;
  }

  local_cluster cluster_{{.workers = 2}};
  config config_;
  caf::actor_system system_{config_};
  std::optional<consumer_host> host_{system_};
};

TEST_F(ConsumerActor, GivesEachElementOnceAndThenTheEndForEver) {
  auto from = host_->spawn(dataset::range(10'000).apply(dynamic()));
  std::vector<int64_t> got;
  for (;;) {
    auto answer = ask(from, 1'000);
    ASSERT_TRUE(answer) << to_string(answer.status());
    if ((*answer)->over())
      break;
    EXPECT_LE((*answer)->size(), 1'000u);
    append(got, **answer);
  }
  EXPECT_EQ(sorted(got), numbers(10'000));
  EXPECT_TRUE(ask(from, 1).value()->over());
}

TEST_F(ConsumerActor, AnswersRequestsInOrderWithNoMoreThanWasAskedFor) {
  auto from = host_->spawn(
    dataset::range(6).apply(distribute{{.service = cluster_.target(), .job_name = "o"}}));
  system_visit inside;
  caf::scoped_actor self{system_};
  std::vector<decltype(port::request(self.ptr(), from, patience, atom::more_v, uint64_t{1}))> asked;
  for (int i = 0; i < 13; ++i)
    asked.push_back(port::request(self.ptr(), from, patience, atom::more_v, uint64_t{1}));
  std::vector<size_t> sizes;
  for (auto& one : asked)
    std::move(one).receive(
      [&](const local<consumed>& x) { sizes.push_back(x->size()); },
      [&](const caf::error& why) { ADD_FAILURE() << to_string(to_status(why)); });
  // Each of the two workers gives a copy of the six elements. Each element comes in an answer of
  // its own; the last answer is the end.
  auto expected = std::vector<size_t>(12, 1);
  expected.push_back(0);
  EXPECT_EQ(sizes, expected);
}

TEST_F(ConsumerActor, ActorsShareAJobAndOneThatEndsLeavesItsElementsToTheOthers) {
  const auto what = dataset::range(5'000);
  auto stays = host_->spawn(what.apply(dynamic("shared")));
  std::optional leaves{host_->spawn(what.apply(dynamic("shared")))};
  std::vector<int64_t> got;
  append(got, *ask(*leaves, 3).value());
  append(got, *ask(stays, 3).value());
  leaves.reset();
  for (;;) {
    auto answer = ask(stays, 10'000);
    ASSERT_TRUE(answer) << to_string(answer.status());
    if ((*answer)->over())
      break;
    append(got, **answer);
  }
  EXPECT_EQ(sorted(got), numbers(5'000));
}

TEST_F(ConsumerActor, GivesAFailedElementInItsPlace) {
  auto from =
    host_->spawn(dataset::range(9)
                   .map([](expr x) { return floor_div(constant(int64_t{8}), x - 4) * 0 + x; })
                   .apply(dynamic("failing")));
  size_t count = 0, failed = 0;
  for (;;) {
    auto answer = ask(from, 100).value();
    if (answer->over())
      break;
    for (size_t row = 0; row < answer->size(); ++row, ++count)
      if (answer->error_at(row) != nullptr) {
        ++failed;
        EXPECT_THAT(answer->error_at(row)->message(), testing::HasSubstr("division by zero"));
      } else {
        EXPECT_NE((*answer)[row][0].scalar<int64_t>(), 4);
      }
  }
  EXPECT_EQ(count, 9u);
  EXPECT_EQ(failed, 1u);
}

TEST_F(ConsumerActor, SaysInItsFirstAnswerThatNobodyListensAndThenEnds) {
  auto from = host_->spawn(dataset::range(9).apply(
    distribute{{.service = "127.0.0.1:1", .worker_timeout = std::chrono::milliseconds{200}}}));
  const auto first = ask(from, 1);
  EXPECT_EQ(first.status().code(), status_code::unavailable);
  EXPECT_THAT(first.status().message(), testing::HasSubstr("nobody listens at 127.0.0.1:1"));
  EXPECT_TRUE(ask(from, 1).value()->over());
}

TEST_F(ConsumerActor, RefusesADatasetThatDoesNotEndInDistribute) {
  const auto why = thrown_by([&] { host_->spawn(dataset::range(9).batch(2)); });
  EXPECT_EQ(why.code(), status_code::invalid_argument);
  EXPECT_THAT(why.message(),
              testing::AllOf(testing::HasSubstr("distribute"), testing::HasSubstr("batch")));
}

TEST_F(ConsumerActor, EndsWithItsHostThoughItWasAskedForMore) {
  auto from = host_->spawn(dataset::range(10).repeat().apply(dynamic()));
  EXPECT_FALSE(ask(from, 5).value()->over());
  host_.reset();
  EXPECT_FALSE(ask(from, 5)) << "an actor that has ended answers";
}

} // namespace
} // namespace headrace::detail::test
