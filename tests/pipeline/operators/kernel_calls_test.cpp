#include "tests/pipeline/support/rows.hpp"

#include <gtest/gtest.h>

namespace headrace {
namespace {

using test::always;
using test::range;
using test::read_all;
using test::traced;

uint64_t calls(const dataset_ptr& graph, const dataset_ptr& of, size_t rows) {
  op_counters counters;
  iterator_context context;
  context.counters = [&](const dataset_node& node) {
    return &node == of.get() ? &counters : nullptr;
  };
  read_all(*make_iterator(graph, context).value(), always(rows));
  return counters.kernel_calls;
}

/// Each operator over 1,000 rows: at most one call a block and column (one more an inner dataset).
struct operator_case {
  const char* name;
  dataset_ptr graph;
  uint64_t columns;
  uint64_t inner = 0;
};

std::vector<operator_case> cases() {
  auto in = range(0, 1000);
  auto plus = traced(in, [](expr x) { return x + 1; });
  auto even = traced(in, [](expr x) { return x % 2 == 0; });
  auto one = traced(in, [](expr x) { return make_from_tensors({x.node()}).value(); });
  return {{"range", in, 1},
          {"map", make_map(in, plus).value(), 1},
          // The predicate's two nodes, and the choice.
          {"filter", make_filter(in, even).value(), 3},
          {"flat_map", make_flat_map(in, one).value(), 1, 1},
          {"interleave", make_interleave(in, one, 10).value(), 1, 1},
          {"batch", make_batch(in, 10).value(), 1},
          {"shuffle", make_shuffle(in, 100, 1).value(), 1},
          {"repeat", make_repeat(in, 1).value(), 0},
          {"take", make_take(in, 1000).value(), 0},
          {"skip", make_skip(in, 0).value(), 0},
          {"prefetch", make_prefetch(in, 10).value(), 0},
          {"enumerate", make_enumerate(in).value(), 1},
          {"zip", make_zip({in, in}).value(), 0},
          {"concatenate", make_concatenate(in, in).value(), 0}};
}

TEST(KernelCalls, AreAtMostOneABlockAndColumn) {
  for (const auto& c : cases()) {
    const auto rows = static_cast<uint64_t>(std::max<int64_t>(c.graph->cardinality, 1000));
    EXPECT_LE(calls(c.graph, c.graph, 1), rows * (c.columns + c.inner)) << c.name << " by one";
    EXPECT_LE(calls(c.graph, c.graph, 1000), 12 * c.columns + c.inner * rows)
      << c.name << " by full blocks";
  }
}

} // namespace
} // namespace headrace
