#include "headrace/pipeline/codec/block_sample.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace headrace::detail {
namespace {

block of(std::vector<column> columns) {
  block out;
  out.rows = columns.at(0).rows();
  out.columns = std::move(columns);
  return out;
}

column noise(size_t values) {
  std::mt19937_64 random{7};
  std::vector<int64_t> xs(values);
  for (auto& x : xs) x = static_cast<int64_t>(random());
  return column::of_scalars(std::span<const int64_t>{xs});
}

column sevens(size_t values) {
  const std::vector<int64_t> xs(values, 7);
  return column::of_scalars(std::span<const int64_t>{xs});
}

TEST(BlockSample, TellsWhatShrinksFromWhatDoesNot) {
  EXPECT_LT(sampled_share(of({sevens(100'000)})), 0.1);
  EXPECT_GT(sampled_share(of({noise(100'000)})), 0.95);
}

TEST(BlockSample, WeighsColumnsByTheirBytes) {
  const auto share = sampled_share(of({noise(100'000), sevens(100'000)}));
  EXPECT_GT(share, 0.45);
  EXPECT_LT(share, 0.6);
}

TEST(BlockSample, LooksOnlyAtTheRowsOfASlice) {
  std::vector<std::string> texts(1000, std::string(100, 'a'));
  std::mt19937 random{7};
  for (size_t i = 0; i < 500; ++i)
    for (auto& c : texts[i]) c = static_cast<char>(random());
  const std::vector<std::string_view> views{texts.begin(), texts.end()};
  const auto all = of({column::of_strings(views)});
  EXPECT_GT(sampled_share(all.slice(0, 500)), 0.9);
  EXPECT_LT(sampled_share(all.slice(500, 500)), 0.2);
}

TEST(BlockSample, OfNothingShrinksNothing) {
  EXPECT_EQ(sampled_share(of({sevens(0)})), 1);
  EXPECT_EQ(sampled_share(block{}), 1);
}

} // namespace
} // namespace headrace::detail
