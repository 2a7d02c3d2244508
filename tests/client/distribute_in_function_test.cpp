#include "tests/client/support/outcomes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>

namespace headrace::detail::test {
namespace {

using testing::HasSubstr;
using words = std::vector<std::string>;

/// Datasets that a function makes from a row, and that are read through a service.
class DistributeInAFunction : public testing::Test {
protected:
  distribute there(std::string job = {}) const {
    return distribute{{.processing_mode = sharding_policy::dynamic,
                       .service = cluster_.target(),
                       .job_name = std::move(job)}};
  }
  static words numbers(const dataset& from) {
    return outcomes(from, [](const tensor_view& x) { return std::to_string(x.scalar<int64_t>()); });
  }
  static words sorted(words all) {
    std::ranges::sort(all);
    return all;
  }

  local_cluster cluster_{{.workers = 2}};
};

TEST_F(DistributeInAFunction, ReadsWhatEachElementMakes) {
  const auto each = dataset::range(2).interleave(
    [&](expr x) { return dataset::range(x * 10, x * 10 + 2).apply(there()); });
  EXPECT_EQ(sorted(numbers(each)), (words{"0", "1", "10", "11"}));
  const auto behind = dataset::range(3).flat_map([&](expr x) {
    return dataset::range(2).map([=](expr y) { return y + x * 10; }).apply(there());
  });
  EXPECT_EQ(sorted(numbers(behind)), (words{"0", "1", "10", "11", "20", "21"}));
}

TEST_F(DistributeInAFunction, ReadsWhatSeveralFunctionsAroundItMake) {
  const auto each = dataset::range(2).flat_map([&](expr x) {
    return dataset::range(2).flat_map([&](expr y) {
      return dataset::range(1).map([=](expr z) { return x * 100 + y * 10 + z; }).apply(there());
    });
  });
  EXPECT_EQ(numbers(each), (words{"0", "10", "100", "110"}));
}

TEST_F(DistributeInAFunction, ReadsRowsOfTextsOfAnyNumber) {
  const auto text = [](const tensor_view& x) { return std::string{x.string()}; };
  const words names{"a", "bb", "ccc", "dddd", "e"};
  const auto each =
    dataset::from_tensor_slices({constant(names)}).batch(2).flat_map([&](expr some) {
      return dataset::from_tensor_slices({some}).apply(there());
    });
  EXPECT_EQ(sorted(outcomes(each, text)), (words{"a", "bb", "ccc", "dddd", "e"}));
}

TEST_F(DistributeInAFunction, SharesTheJobOfEachDatasetByItsName) {
  // The dataset is made twice, as if by two programs.
  const auto made = [&] {
    return dataset::range(20).flat_map(
      [&](expr x) { return dataset::range(x * 10, x * 10 + 10).apply(there("j")); });
  };
  const auto each = made(), again = made();
  for (int epoch = 0; epoch < 2; ++epoch) {
    auto other = std::async(std::launch::async, [&] { return numbers(again); });
    auto all = numbers(each);
    for (auto& x : other.get()) all.push_back(std::move(x));
    EXPECT_EQ(all.size(), 200u) << epoch;
    EXPECT_EQ(std::ranges::count_if(all, [](const auto& x) { return x.starts_with("!"); }), 0);
  }
}

TEST_F(DistributeInAFunction, ReadsOnWorkersToo) {
  local_cluster outer{{.workers = 2}};
  const auto each = dataset::range(10).flat_map(
    [&](expr x) { return dataset::range(x * 10, x * 10 + 2).apply(there()); });
  const auto twice = each.apply(
    distribute{{.processing_mode = sharding_policy::dynamic, .service = outer.target()}});
  EXPECT_EQ(sorted(numbers(twice)), sorted(numbers(each)));
}

TEST_F(DistributeInAFunction, RefusesADatasetOfTheFunctionWhereItIsWritten) {
  const auto why = thrown_by([&] {
    dataset::range(9).window(3).flat_map(
      [&](const dataset& some) { return some.map([](expr x) { return x; }).apply(there()); });
  });
  EXPECT_EQ(why.code(), status_code::invalid_argument);
  EXPECT_THAT(why.message(), HasSubstr("distribute"));
  EXPECT_THAT(why.message(), HasSubstr("dataset(int64"));
}

} // namespace
} // namespace headrace::detail::test
