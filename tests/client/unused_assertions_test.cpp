#include "headrace/client/dataset.hpp"
#include "headrace/pipeline/functions/control.hpp"
#include "headrace/pipeline/functions/debugging.hpp"
#include "headrace/pipeline/functions/math.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <string>
#include <vector>

namespace headrace::detail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The elements, with -1 in place of each element that failed.
std::vector<int64_t> values_or_failures(const dataset& from) {
  std::vector<int64_t> out;
  auto it = from.iterate();
  for (auto next = it.next(); !next || *next; next = it.next())
    out.push_back(next ? (**next)[0].scalar<int64_t>() : -1);
  return out;
}

std::string first_error(const dataset& from) {
  auto it = from.iterate();
  for (auto next = it.next(); !next || *next; next = it.next())
    if (!next)
      return next.status().message();
  return "no error";
}

TEST(UnusedAssertion, FailsTheElement) {
  EXPECT_THAT(values_or_failures(dataset::range(3).map([](expr x) {
                debugging::assert_greater(x, 0);
                return x;
              })),
              ElementsAre(-1, 1, 2));
}

TEST(UnusedAssertion, SaysWhatIsWrong) {
  const auto ds = dataset::range(2).map([](expr x) {
    debugging::assert_less(x, 1, "a short one");
    return std::pair{x, x * 2};
  });
  EXPECT_THAT(first_error(ds), HasSubstr("debugging.assert_less: a short one: x = 1, y = 1"));
}

TEST(UnusedAssertion, OfNumericsAndRanksHoldsToo) {
  EXPECT_THAT(first_error(dataset::range(1).map([](expr x) {
                debugging::check_numerics(cast<float>(x) / 0.0F, "a quotient");
                return x;
              })),
              HasSubstr("debugging.check_numerics: a quotient"));
}

TEST(UnusedAssertion, FailsWhatAFunctionThatGivesADatasetWouldGive) {
  EXPECT_THAT(values_or_failures(dataset::range(4).flat_map([](expr x) {
                debugging::assert_none_equal(x, 2);
                return dataset::range(x);
              })),
              ElementsAre(0, -1, 0, 1, 2));
}

TEST(UnusedAssertion, BelongsToTheInnermostFunction) {
  EXPECT_THAT(values_or_failures(dataset::range(2).flat_map([](expr) {
                return dataset::range(3).map([](expr y) {
                  debugging::assert_none_equal(y, 1);
                  return y;
                });
              })),
              ElementsAre(0, -1, 2, 0, -1, 2));
}

TEST(UnusedAssertion, InABranchIsAboutTheElementsThatTakeIt) {
  EXPECT_THAT(values_or_failures(dataset::range(5).map([](expr x) {
                return cond(
                  x > 1,
                  [&] {
                    debugging::assert_less(12 / (x - 1), 6);
                    return x * 10;
                  },
                  [&] {
                    debugging::assert_greater(x, 0);
                    return x;
                  });
              })),
              ElementsAre(-1, 1, -1, -1, 40));
}

TEST(UnusedAssertion, FailsTheElementOfAFilter) {
  EXPECT_THAT(values_or_failures(dataset::range(4).filter([](expr x) {
                debugging::assert_less(x, 3);
                return x > 0;
              })),
              ElementsAre(1, 2, -1));
}

} // namespace
} // namespace headrace::detail
