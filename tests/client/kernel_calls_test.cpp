#include "benchmarks/kernel_cases.hpp"
#include "tests/support/paths.hpp"

#include <gtest/gtest.h>

namespace headrace::detail::bench {
namespace {

std::vector<kernel_case> all_cases() {
  auto out = operator_cases(test::data_path(""));
  for (auto& x : expression_cases(test::data_path(""))) out.push_back(std::move(x));
  return out;
}

TEST(KernelCalls, AreAtMostOneABlockAndColumnOfEveryOperatorAndThoseInItsFunction) {
  for (const auto& x : all_cases())
    for (const size_t block_rows : {1, 7, 1000}) {
      SCOPED_TRACE(x.name + " in blocks of " + std::to_string(block_rows));
      const auto taken = count_kernel_calls(x, block_rows);
      EXPECT_GT(taken.rows, 0u);
      EXPECT_LE(taken.calls, taken.limit);
      EXPECT_LE(taken.inner_calls, taken.inner_limit);
    }
}

TEST(KernelCalls, AreCountedOfEveryOperatorThereIs) {
  // No test case contains these two operators: distribute runs in other processes, and options
  // has no iterator.
  std::set<dataset_op> counted{dataset_op::distribute, dataset_op::options};
  for (const auto& x : operator_cases(test::data_path("")))
    counted.merge(count_kernel_calls(x, 1000).ops);
  for (uint16_t i = 0; i < 1000; ++i) {
    const auto op = static_cast<dataset_op>(i);
    const bool exists = to_string(op) != to_string(dataset_op{});
    EXPECT_TRUE(!exists || counted.contains(op)) << to_string(op) << " is in no case";
  }
}

} // namespace
} // namespace headrace::detail::bench
