#include "headrace/headrace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace {

namespace {

using testing::HasSubstr;

/// What the call throws; ok if nothing.
template <class F>
status thrown_by(F&& call) {
  try {
    call();
  } catch (const error& e) {
    return e.why();
  }
  return {};
}

TEST(BadInput, AnUnknownDatasetIdIsNamed) {
  local_cluster cluster{{.workers = 1}};
  const auto why = thrown_by([&] { from_dataset_id({.service = cluster.target()}, "no such id"); });
  EXPECT_EQ(why.code(), status_code::not_found);
  EXPECT_THAT(why.message(), HasSubstr("no such id"));
}

TEST(BadInput, AnIdThatAnotherDatasetHasIsRefused) {
  local_cluster cluster{{.workers = 1}};
  EXPECT_EQ(register_dataset(cluster.target(), dataset::range(3), "mine"), "mine");
  EXPECT_EQ(register_dataset(cluster.target(), dataset::range(3), "mine"), "mine");
  const auto why =
    thrown_by([&] { register_dataset(cluster.target(), dataset::range(4), "mine"); });
  EXPECT_EQ(why.code(), status_code::already_exists);
  EXPECT_THAT(why.message(), HasSubstr("'mine'"));
}

TEST(BadInput, AnAddressWhereNobodyListensIsNamed) {
  const auto why =
    thrown_by([] { dataset::range(3).apply(distribute{{.service = "127.0.0.1:1"}}).iterate(); });
  EXPECT_EQ(why.code(), status_code::unavailable);
  EXPECT_THAT(why.message(), HasSubstr("127.0.0.1:1"));
}

TEST(BadInput, NoWorkerWithinItsTimeIsAnErrorThatSaysWhatToStart) {
  local_cluster cluster{{.workers = 0, .heartbeat = std::chrono::milliseconds{50}}};
  auto it = dataset::range(3)
              .apply(distribute{
                {.service = cluster.target(), .worker_timeout = std::chrono::milliseconds{200}}})
              .iterate();
  const auto first = it.next();
  EXPECT_EQ(first.status().code(), status_code::unavailable);
  EXPECT_THAT(first.status().message(), HasSubstr("headrace worker"));
  const auto second = it.next();
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->has_value());
}

TEST(BadInput, SizesOfZeroAreRefusedWhereTheyAreWritten) {
  EXPECT_EQ(thrown_by([] { dataset::range(3).batch(0); }).code(), status_code::invalid_argument);
  EXPECT_EQ(thrown_by([] { dataset::range(3).shuffle(-1); }).code(), status_code::invalid_argument);
  EXPECT_EQ(thrown_by([] {
              dataset::range(3).interleave([](expr n) { return dataset::range(n); },
                                           {.cycle_length = 0});
            }).code(),
            status_code::invalid_argument);
}

} // namespace

} // namespace headrace
