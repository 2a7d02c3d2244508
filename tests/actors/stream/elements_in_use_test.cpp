#include "headrace/actors/stream/elements_in_use.hpp"

#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

constexpr auto soon = elements_in_use::long_enough;
constexpr time_point start{std::chrono::hours{1}};

/// The trainer was handed `handed_out` of ten elements, and has the last `in_use` of them in use.
handout::marks at(uint64_t handed_out, uint64_t in_use) {
  return {.received = 10, .handed_out = handed_out, .in_use = in_use};
}

TEST(ElementsInUse, AreReportedWhenTheTrainerHasAskedForTheNextOne) {
  elements_in_use x{true};
  EXPECT_EQ(x.report(at(4, 1)), 3u);
  EXPECT_FALSE(x.has_more_to_report(at(4, 1)));
  EXPECT_TRUE(x.has_more_to_report(at(4, 0)));
  EXPECT_EQ(x.report(at(4, 0)), 4u);
  EXPECT_FALSE(x.has_more_to_report(at(4, 0)));
}

TEST(ElementsInUse, AreReportedWhenTheTrainerHasKeptThemForLong) {
  elements_in_use x{true};
  EXPECT_FALSE(x.update(at(10, 3), start));
  EXPECT_EQ(x.report(at(10, 3)), 7u);
  EXPECT_EQ(x.deadline(), start + soon);
  EXPECT_TRUE(x.update(at(10, 3), start + soon));
  EXPECT_EQ(x.handed_out(at(10, 3)), 10u);
  EXPECT_EQ(x.deadline(), std::nullopt);
}

TEST(ElementsInUse, HaveOneReminderAtATime) {
  elements_in_use x{true};
  x.update(at(9, 1), start);
  EXPECT_EQ(x.deadline(), std::nullopt) << "there is another element";
  x.update(at(10, 1), start + soon / 2);
  EXPECT_EQ(x.deadline(), start + soon);
  EXPECT_TRUE(x.update(at(10, 1), start + soon));
  EXPECT_EQ(x.handed_out(at(10, 1)), 9u) << "the last one was not kept for long enough";
  EXPECT_EQ(x.deadline(), start + 2 * soon);
}

TEST(ElementsInUse, AreReportedAtOnceWhereNoOtherTrainerCouldBeGivenThem) {
  elements_in_use x;
  x.update(at(10, 1), start);
  EXPECT_EQ(x.deadline(), std::nullopt);
  EXPECT_EQ(x.report(at(10, 1)), 10u);
}

} // namespace
} // namespace headrace::detail
