#include "headrace/pipeline/iterator/choice_log.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <numeric>
#include <optional>
#include <thread>

namespace headrace::detail {
namespace {

TEST(ChoiceLog, GivesWhatWasAddedAfterAMark) {
  choice_log log;
  const auto begin = log.now();
  std::vector<uint64_t> all(10'000);
  std::iota(all.begin(), all.end(), 7);
  std::optional<choice_log::mark> middle;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i == 6'000)
      middle = log.now();
    log.add(all[i]);
    if (i % 1'000 == 999)
      log.add(position_ptr{});
  }
  choice_log::reader reader;
  const auto whole = reader.after(begin);
  EXPECT_EQ(whole.numbers, all);
  EXPECT_EQ(whole.opened.size(), 10u);
  log.add(1); // after the end that `reader` determined with its first call
  const auto rest = reader.after(*middle);
  EXPECT_EQ(rest.numbers, (std::vector<uint64_t>{all.begin() + 6'000, all.end()}));
  EXPECT_EQ(rest.opened.size(), 4u);
  EXPECT_TRUE(choice_log::reader{}.after(log.now()).numbers.empty());
}

TEST(ChoiceLog, OfManyOpenedIteratorsIsFreedWithoutRecursion) {
  choice_log log;
  std::optional begin = log.now();
  for (int i = 0; i < 100'000; ++i) log.add(position_ptr{});
  EXPECT_EQ(choice_log::reader{}.after(*begin).opened.size(), 100'000u);
  begin.reset();
}

TEST(ChoiceLog, IsReadAndReleasedWhileAThreadAdds) {
  choice_log log;
  std::atomic<bool> done{false};
  std::jthread adds{[&] {
    for (uint64_t i = 0; i < 200'000; ++i) {
      log.add(i);
      if (i % 100 == 0)
        log.add(position_ptr{});
    }
    done = true;
  }};
  const auto read = [&] {
    std::deque<choice_log::mark> marks;
    while (!done) {
      marks.push_back(log.now());
      const auto got = choice_log::reader{}.after(marks.front());
      for (size_t i = 1; i < got.numbers.size(); ++i) ASSERT_EQ(got.numbers[i], got.numbers[0] + i);
      if (marks.size() == 20)
        marks.pop_front();
    }
  };
  std::jthread other{read};
  read();
}

TEST(ChoiceLog, IsBoundedAndOldMarksAreIncompleteThen) {
  choice_log log;
  const auto begin = log.now();
  for (uint64_t i = 0; i < 4'000'000; ++i) log.add(i);
  const auto middle = log.now();
  EXPECT_FALSE(choice_log::reader{}.after(begin).incomplete);
  for (uint64_t i = 0; i < 6'000'000; ++i) log.add(i);
  EXPECT_TRUE(choice_log::reader{}.after(begin).incomplete);
  const auto rest = choice_log::reader{}.after(middle);
  EXPECT_FALSE(rest.incomplete);
  EXPECT_EQ(rest.numbers.size(), 6'000'000u);
  for (uint64_t i = 0; i < 6'000'000; ++i) log.add(i);
  EXPECT_TRUE(choice_log::reader{}.after(middle).incomplete);
  EXPECT_TRUE(choice_log::reader{}.after(log.now()).numbers.empty());
}

} // namespace
} // namespace headrace::detail
