#include "headrace/runtime/node/first_contact.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

constexpr time_point began{1h};

first_contact contact(duration limit = 60s) { return {"host:1", "worker_timeout", limit, began}; }

TEST(FirstContact, WaitsOutWhatMayPass) {
  auto x = contact();
  for (int i = 0; i < 100; ++i)
    for (auto code : {status_code::unavailable, status_code::deadline_exceeded,
                      status_code::resource_exhausted, status_code::unknown})
      EXPECT_FALSE(x.failed({code, "passes"}));
}

TEST(FirstContact, EndsAtOnceWithWhatNoWaitingHeals) {
  for (auto code : {status_code::failed_precondition, status_code::invalid_argument,
                    status_code::cancelled, status_code::internal}) {
    const status why{code, "final"};
    EXPECT_EQ(contact().failed(why), why);
  }
}

TEST(FirstContact, TakesThreeRefusalsInARowForWantOfTrust) {
  const status refused{status_code::unauthenticated, "no trust"};
  auto x = contact();
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(x.failed(refused));
    EXPECT_FALSE(x.failed(refused));
    if (i % 2 == 0)
      EXPECT_FALSE(x.failed(unavailable("nobody listens")));
    else
      x.reached();
  }
  EXPECT_FALSE(x.failed(refused));
  EXPECT_FALSE(x.failed(refused));
  EXPECT_EQ(x.failed(refused), refused);
}

TEST(FirstContact, NamesWhoWasWaitedForHowLongAndWhyLast) {
  auto x = contact(2500ms);
  EXPECT_EQ(x.until(), began + 2500ms);
  x.failed(unavailable("first"));
  x.failed(unavailable("last"));
  EXPECT_EQ(x.late().code(), status_code::unavailable);
  EXPECT_THAT(x.late().message(),
              AllOf(HasSubstr("host:1"), HasSubstr("2.5 s: last"), HasSubstr("`worker_timeout`")));
}

TEST(FirstContact, IsWorthOneWord) {
  auto x = contact();
  EXPECT_FALSE(x.is_worth_a_word(began + 500ms));
  EXPECT_TRUE(x.is_worth_a_word(began + 2s));
  EXPECT_THAT(x.word(), AllOf(HasSubstr("host:1"), HasSubstr("60 s")));
  EXPECT_FALSE(x.is_worth_a_word(began + 4s));
}

TEST(FirstContact, MayWaitForEver) {
  EXPECT_EQ(contact(duration::max()).until(), time_point::max());
}

} // namespace
} // namespace headrace::detail::test
