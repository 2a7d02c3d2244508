#include "tests/pipeline/random/generator.hpp"
#include "tests/support/test_seed.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

// Random graphs are read in blocks of several sizes and compared with lists that are computed
// element by element, without the code of the operators (only the random numbers are shared).

namespace headrace::detail {
namespace {

using namespace test::random;

std::vector<std::string> texts_of(const elements& xs) {
  std::vector<std::string> out;
  for (const auto& x : xs) out.push_back(x.text());
  return out;
}

std::vector<std::string> without_reasons(std::vector<std::string> rows) {
  for (auto& row : rows)
    if (row[0] == '!')
      row = "!";
  return rows;
}

TEST(RandomPipelines, GiveTheSameElementsInAnyOrderWhereOrderDoesNotMatter) {
  const auto seed = test::test_seed();
  for (uint64_t i = 0; i < 60; ++i) {
    SCOPED_TRACE(fmt::format("seed {}, pipeline {}", seed, i));
    test::scratch_folder folder;
    generator make{seed + i * 1000003, folder};
    const auto x = make.make_unordered(static_cast<int>(1 + make.below(5)));
    auto want = texts_of(x.want);
    std::ranges::sort(want);
    for (size_t most : {1, 17, 1000}) {
      auto got = without_reasons(test::read_all(x.graph, test::always(most)));
      std::ranges::sort(got);
      ASSERT_EQ(got, want) << "blocks of " << most;
    }
  }
}

TEST(RandomPipelines, GiveWhatAnElementByElementEvaluationGives) {
  const auto seed = test::test_seed();
  for (uint64_t i = 0; i < 150; ++i) {
    SCOPED_TRACE(fmt::format("seed {}, pipeline {}", seed, i));
    test::scratch_folder folder;
    generator make{seed + i * 1000003, folder};
    auto x = make.make(static_cast<int>(1 + make.below(6)));
    if (make.below(3) == 0)
      x = make.batch(x);
    const auto want = texts_of(x.want);
    for (size_t most : {1, 3, 17, 1000}) {
      std::mt19937_64 sizes{seed + i + most};
      const auto rows = [&] { return 1 + sizes() % most; };
      ASSERT_EQ(without_reasons(test::read_all(x.graph, rows)), want) << "blocks up to " << most;
    }
  }
}

} // namespace
} // namespace headrace::detail
