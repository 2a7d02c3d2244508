#include "tests/pipeline/support/rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

namespace headrace::detail {
namespace {

using std::chrono::steady_clock;
using test::always;
using test::range;
using test::read_all;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Sleep, PausesBeforeEachElement) {
  const auto begin = steady_clock::now();
  EXPECT_THAT(read_all(make_sleep(range(0, 4), 1500).value(), always(1000)),
              ElementsAre("0", "1", "2", "3"));
  EXPECT_GE(steady_clock::now() - begin, std::chrono::microseconds{6000});
}

TEST(Sleep, TakesNoMoreElementsThanWhoseTimeHasCome) {
  const iterator_context context;
  auto slow = make_iterator(make_sleep(range(0, 100), 5000).value(), context).value();
  EXPECT_EQ(slow->next({.rows = 100})->rows, 1u);
  auto quick = make_iterator(make_sleep(range(0, 100), 0).value(), context).value();
  EXPECT_EQ(quick->next({.rows = 100})->rows, 100u);
}

TEST(Sleep, EndsAtOnceWhenItIsStopped) {
  std::stop_source stop;
  iterator_context context;
  context.stop = stop.get_token();
  auto from = make_iterator(make_sleep(range(0, 10), 86'400'000'000).value(), context).value();
  std::jthread other{[&] { stop.request_stop(); }};
  EXPECT_THAT(read_all(*from), ElementsAre(HasSubstr("!cancelled")));
}

TEST(Sleep, RefusesPausesThatAreNone) {
  EXPECT_EQ(make_sleep(range(0, 4), -1).status().message(),
            "sleep: sleep_microseconds is -1; it must be between 0 and 86400000000, a day");
  EXPECT_FALSE(make_sleep(range(0, 4), 86'400'000'001).ok());
  EXPECT_EQ(make_sleep(range(0, 4), 1).value()->cardinality, 4);
}

} // namespace
} // namespace headrace::detail
