#include "headrace/pipeline/graph/free_parameters.hpp"

#include "headrace/pipeline/functions/representation/expression_makers.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail::test {
namespace {

/// range(3).flat_map(x -> range(2).flat_map(y -> range(x + y, 9))).
dataset_ptr nested() {
  const auto inner = [](expr x) {
    const auto two = range(0, 2);
    return make_flat_map(two, traced(two,
                                     [x](expr y) {
                                       return make_range((x + y).node(),
                                                         constant(int64_t{9}).node(),
                                                         constant(int64_t{1}).node())
                                         .value();
                                     }))
      .value();
  };
  const auto three = range(0, 3);
  return make_flat_map(three, traced(three, inner)).value();
}

expr_ptr number(int64_t x) {
  return make_constant(column::of_scalars(std::span<const int64_t>{&x, 1})).value();
}

TEST(FreeParameters, AreThoseOfFunctionsAround) {
  const auto graph = nested();
  EXPECT_TRUE(free_parameters(graph).empty());
  const auto free = free_parameters(graph->body->dataset);
  ASSERT_EQ(free.size(), 1u);
  EXPECT_EQ(free[0]->scope, graph->body->scope);
}

TEST(FreeParameters, BoundOnesMakeAGraphOfItsOwn) {
  const auto graph = nested();
  EXPECT_FALSE(encode_graph(graph->body->dataset));
  const auto bound =
    bind_parameters(graph->body->dataset, [](const expr_ptr&) { return number(7); });
  EXPECT_TRUE(free_parameters(bound).empty());
  const auto sent = decode_graph(encode_graph(bound).value()).value();
  EXPECT_EQ(read_numbers(sent), (std::vector<int64_t>{7, 8, 8}));
  const auto again =
    bind_parameters(nested()->body->dataset, [](const expr_ptr&) { return number(7); });
  EXPECT_EQ(fingerprint(again).value(), fingerprint(bound).value()) << "written twice";
}

TEST(FreeParameters, AGraphWithoutAnyIsItself) {
  const auto graph = nested();
  EXPECT_EQ(bind_parameters(graph, [](const expr_ptr&) { return number(7); }), graph);
}

} // namespace
} // namespace headrace::detail::test
