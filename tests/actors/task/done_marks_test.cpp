#include "headrace/actors/task/done_marks.hpp"

#include <gtest/gtest.h>

namespace headrace::detail::test {
namespace {

using places = std::vector<splits_done>;

places upto(uint64_t split) { return {{.split = split}}; }

TEST(DoneMarks, SayTheLastThatReadersAreDoneWithOnce) {
  done_marks x;
  for (uint64_t i = 1; i < 5; ++i) x.add(10 * i, upto(i));
  EXPECT_EQ(x.through(9), places{});
  EXPECT_EQ(x.through(35), upto(3));
  EXPECT_EQ(x.through(39), places{});
  EXPECT_EQ(x.through(40), upto(4));
  EXPECT_TRUE(x.empty());
}

TEST(DoneMarks, AreNoNewsFromARunnerThatReplays) {
  done_marks x;
  x.add(10, upto(1));
  x.add(20, upto(2));
  EXPECT_EQ(x.through(10), upto(1));
  x.add(5, upto(0));
  x.add(10, upto(1));
  x.add(15, upto(1));
  EXPECT_EQ(x.through(19), places{});
  EXPECT_EQ(x.through(20), upto(2));
}

TEST(DoneMarks, AreFewAndKeepTheNewest) {
  done_marks x;
  constexpr uint64_t all = 1000;
  for (uint64_t i = 1; i <= all; ++i) x.add(i, upto(i));
  size_t said = 0;
  places last;
  for (uint64_t i = 1; i <= all; ++i)
    if (const auto now = x.through(i); !now.empty()) {
      EXPECT_LE(now[0].split, i);
      last = now;
      ++said;
    }
  EXPECT_LE(said, done_marks::most);
  EXPECT_EQ(last, upto(all));
}

} // namespace
} // namespace headrace::detail::test
