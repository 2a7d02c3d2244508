#include "tests/pipeline/random/generator.hpp"

#include <gtest/gtest.h>
#include <set>

// Checks that each operator, except those in `elsewhere`, occurs in some random graph.

namespace headrace::detail {
namespace {

using namespace test::random;

/// Operators that no random graph contains, and the tests that cover them.
const std::set<dataset_op> elsewhere{
  dataset_op::distribute, // runs its input in a service, which tests of the client start
};

void note(const dataset_ptr& graph, std::set<dataset_op>& seen) {
  if (!graph)
    return;
  seen.insert(graph->op);
  for (const auto& input : graph->inputs) note(input, seen);
  if (graph->body)
    note(graph->body->dataset, seen);
}

void expect_all(bool redraws) {
  std::set<dataset_op> wanted, seen;
  for (uint16_t i = 0; i < 1000; ++i)
    if (to_string(static_cast<dataset_op>(i)) != "unknown operator")
      wanted.insert(static_cast<dataset_op>(i));
  for (const auto op : elsewhere) wanted.erase(op);
  for (uint64_t seed = 0; seed < 500 && seen.size() < wanted.size(); ++seed) {
    test::scratch_folder folder;
    generator make{seed, folder, redraws};
    note(make.make(5).graph, seen);
  }
  for (const auto op : wanted) EXPECT_TRUE(seen.contains(op)) << to_string(op);
  for (const auto op : elsewhere) EXPECT_FALSE(seen.contains(op)) << to_string(op);
}

TEST(RandomGraphs, AreOfEveryOperator) { expect_all(false); }

TEST(RandomGraphs, ThatAreSavedAndRestoredAreOfEveryOperator) { expect_all(true); }

} // namespace
} // namespace headrace::detail
