#include "headrace/pipeline/iterator/choice_log.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <optional>

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
  log.add(1); // after the first mark was read
  const auto rest = reader.after(*middle);
  EXPECT_EQ(rest.numbers, (std::vector<uint64_t>{all.begin() + 6'000, all.end()}));
  EXPECT_EQ(rest.opened.size(), 4u);
  EXPECT_TRUE(choice_log::reader{}.after(log.now()).numbers.empty());
}

TEST(ChoiceLog, OfMillionsOfOpenedIteratorsIsFreedWithoutRecursion) {
  choice_log log;
  std::optional begin = log.now();
  for (int i = 0; i < 1'000'000; ++i) log.add(position_ptr{});
  EXPECT_EQ(choice_log::reader{}.after(*begin).opened.size(), 1'000'000u);
  begin.reset();
}

} // namespace
} // namespace headrace::detail
