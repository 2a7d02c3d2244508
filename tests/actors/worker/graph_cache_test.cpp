#include "headrace/actors/worker/graph_cache.hpp"

#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

dataset_ptr graph() { return std::make_shared<const dataset_node>(); }

TEST(GraphCache, KeepsWhatWasUsedLastWithinItsBound) {
  graph_cache cache{100};
  const auto a = graph(), b = graph(), c = graph();
  cache.keep("a", a, 40);
  cache.keep("b", b, 40);
  cache.keep("b", b, 40);
  EXPECT_EQ(cache.bytes(), 80u);
  EXPECT_EQ(cache.find("a"), a);
  cache.keep("c", c, 40);
  EXPECT_EQ(cache.find("b"), nullptr);
  EXPECT_EQ(cache.find("a"), a);
  EXPECT_EQ(cache.find("c"), c);
  EXPECT_EQ(cache.bytes(), 80u);
}

TEST(GraphCache, KeepsOneThatIsLargerThanItsBoundAlone) {
  graph_cache cache{100};
  cache.keep("a", graph(), 40);
  cache.keep("b", graph(), 400);
  EXPECT_EQ(cache.find("a"), nullptr);
  EXPECT_NE(cache.find("b"), nullptr);
  cache.keep("c", graph(), 10);
  EXPECT_EQ(cache.find("b"), nullptr);
  EXPECT_EQ(cache.bytes(), 10u);
}

} // namespace
} // namespace headrace::detail
