#include "headrace/pipeline/functions/math.hpp"
#include "headrace/pipeline/functions/representation/expression_makers.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "headrace/pipeline/types/ragged_view.hpp"
#include "tests/pipeline/operators/read_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using test::range;
using test::read;
using test::read_all;
using test::traced;
using test::why;
using testing::ElementsAre;
using testing::HasSubstr;

/// Vectors of 0, 1, 2, 0, 1, 2 ... numbers.
dataset_ptr vectors(int64_t n) {
  auto in = range(0, n);
  return make_map(in, traced(in,
                             [](expr i) {
                               return slice(constant(std::vector<int64_t>{1, 2}) + i * 10,
                                            constant(std::vector<int64_t>{0}), reshape(i % 3, {1}));
                             }))
    .value();
}

TEST(RaggedBatch, GivesValuesAndRowLengths) {
  auto x = make_ragged_batch(vectors(5), 4).value();
  EXPECT_EQ(to_string(x->spec), "ragged(int64[?], int64[?])");
  EXPECT_THAT(read(x), ElementsAre("[3]{11 21 22}|[4]{0 1 2 0}", "[1]{41}|[1]{1}"));
  EXPECT_EQ(x->cardinality, 2);
  auto whole = make_ragged_batch(vectors(5), 4, true).value();
  EXPECT_EQ(to_string(whole->spec), "ragged(int64[?], int64[4])");
  EXPECT_THAT(read(whole), ElementsAre("[3]{11 21 22}|[4]{0 1 2 0}"));
  EXPECT_THAT(read(make_ragged_batch(vectors(0), 4).value()), ElementsAre());
}

TEST(RaggedBatch, StacksComponentsOfKnownShape) {
  auto x = make_ragged_batch(make_enumerate(vectors(4)).value(), 2).value();
  EXPECT_EQ(to_string(x->spec), "(int64[?], ragged(int64[?], int64[?]))");
  EXPECT_THAT(read(x), ElementsAre("[2]{0 1}|[1]{11}|[2]{0 1}", "[2]{2 3}|[2]{21 22}|[2]{2 0}"));
}

TEST(RaggedBatch, HasLengthsForEachAxisUpToTheLastUnknownOne) {
  // The shapes are [0, 2], [1, 2], [2, 2] ...: the length of the last axis is known.
  auto in = vectors(3);
  auto pairs = make_map(in, traced(in, [](expr x) { return stack({x, x * 2}, 1); })).value();
  auto x = make_ragged_batch(pairs, 3).value();
  EXPECT_EQ(to_string(x->spec), "ragged(int64[?, 2], int64[?])");
  EXPECT_THAT(read(x), ElementsAre("[3, 2]{11 22 21 42 22 44}|[3]{0 1 2}"));
  auto lines = make_map(in, traced(in, [](expr x) { return stack({x, x * 2}, 0); })).value();
  auto y = make_ragged_batch(lines, 3).value();
  EXPECT_EQ(to_string(y->spec), "ragged(int64[?], int64[?], int64[?])");
  EXPECT_THAT(read(y), ElementsAre("[6]{11 22 21 22 42 44}|[3]{2 2 2}|[6]{0 0 1 1 2 2}"));
  auto dense = make_map(y, traced(y, [](ragged r) { return r.to_tensor(-1); })).value();
  EXPECT_THAT(read(dense), ElementsAre("[3, 2, 2]{-1 -1 -1 -1 11 -1 22 -1 21 22 42 44}"));
}

TEST(RaggedBatch, IsReadByFunctions) {
  auto in = make_ragged_batch(vectors(6), 3).value();
  const auto mapped = [&](auto f) { return read(make_map(in, traced(in, f)).value()); };
  EXPECT_THAT(mapped([](ragged r) { return r.to_tensor(); }),
              ElementsAre("[3, 2]{0 0 11 0 21 22}", "[3, 2]{0 0 41 0 51 52}"));
  EXPECT_THAT(mapped([](ragged r) { return r.row_splits(); }),
              ElementsAre("[4]{0 0 1 3}", "[4]{0 0 1 3}"));
  EXPECT_THAT(mapped([](ragged r) { return r.with_values(r.values() * 10); }),
              ElementsAre("[3]{110 210 220}|[3]{0 1 2}", "[3]{410 510 520}|[3]{0 1 2}"));
  EXPECT_THAT(mapped([](expr_structure r) { return r["row_lengths"] + r.leaves()[1]; }),
              ElementsAre("[3]{0 2 4}", "[3]{0 2 4}"));
  auto numbered = make_enumerate(in).value();
  auto f = traced(numbered, [](expr i, ragged r) { return std::pair{i, r}; });
  EXPECT_EQ(to_string(make_map(numbered, f).value()->spec), to_string(numbered->spec));
  auto strings =
    make_map(
      in,
      traced(
        in,
        [](ragged r) {
          const auto words = gather(constant(std::vector<std::string>{"a", "b"}), r.values() % 2);
          return ragged{words, r.row_lengths()}.to_tensor("-");
        }))
      .value();
  EXPECT_THAT(read(strings),
              ElementsAre("[3, 2]{'-' '-' 'b' '-' 'b' 'a'}", "[3, 2]{'-' '-' 'b' '-' 'b' 'a'}"));
}

TEST(RaggedBatch, FailsWhereLengthsAndValuesDiffer) {
  auto in = range(0, 2);
  auto x = make_map(in, traced(in,
                               [](expr i) {
                                 const auto values = constant(std::vector<float>{1, 2, 3});
                                 return ragged{values, stack({i + 1, i + 1})}.to_tensor();
                               }))
             .value();
  EXPECT_THAT(read(x),
              ElementsAre("!invalid_argument: map: ragged.to_tensor: the row lengths add up to "
                          "2; there are 3 values",
                          HasSubstr("add up to 4")));
}

TEST(RaggedBatch, WithAnElementThatFailedFails) {
  auto in = range(0, 4);
  auto bad = make_map(in, traced(in,
                                 [](expr i) {
                                   return slice(constant(std::vector<int64_t>{1, 2}),
                                                constant(std::vector<int64_t>{0}),
                                                reshape(i % 2 + 0 / i, {1}));
                                 }))
               .value();
  EXPECT_THAT(read(make_ragged_batch(bad, 2).value()),
              ElementsAre(HasSubstr("division by zero"), "[1]{1}|[2]{0 1}"));
}

TEST(RaggedBatch, IsReadByConsumers) {
  auto graph = make_enumerate(make_ragged_batch(vectors(3), 3).value()).value();
  iterator_context context;
  auto rows = make_iterator(graph, context).value()->next({.rows = 1});
  ASSERT_TRUE(rows);
  const element at{std::make_shared<const block>(*rows),
                   std::make_shared<const element_spec>(graph->spec), 0};
  EXPECT_EQ(to_string(at), "(0, ragged([11, 21, 22], [0, 1, 2]))");
  const ragged_view x{at, 1};
  EXPECT_THAT(x.values().as<int64_t>(), ElementsAre(11, 21, 22));
  EXPECT_THAT(x.row_lengths(), ElementsAre(0, 1, 2));
  EXPECT_THAT(x.row_splits(), ElementsAre(0, 0, 1, 3));
  EXPECT_THROW((ragged_view{at, 0}), error);
  EXPECT_THROW((ragged_view{at, 2}), error);
  EXPECT_THROW((ragged_view{at, "x"}), error);
}

TEST(RaggedBatch, TravelsWithItsStructure) {
  auto graph = make_ragged_batch(vectors(5), 2).value();
  auto back = decode_graph(encode_graph(graph).value()).value();
  EXPECT_EQ(back->spec, graph->spec);
  EXPECT_EQ(read_all(back), read_all(graph));
  EXPECT_EQ(decode_spec(encode_spec(graph->spec)).value(), graph->spec);
}

TEST(RaggedBatch, RefusesWhatHasNoRows) {
  EXPECT_EQ(why(make_ragged_batch(range(0, 3), 0)),
            "ragged_batch: batch_size is 0; it must be at least 1");
  EXPECT_EQ(why(make_ragged_batch(make_ragged_batch(vectors(3), 2).value(), 2)),
            "ragged_batch: the input gives ragged(int64[?], int64[?]); ragged tensors cannot be "
            "batched again");
  EXPECT_EQ(
    why(make_unbatch(make_ragged_batch(vectors(3), 2).value())),
    "unbatch: the input gives ragged(int64[?], int64[?]); make tensors of ragged ones before, "
    "with to_tensor in a map");
}

TEST(RaggedBatch, IsNotTakenForTensorsOfItsParts) {
  const auto in = make_ragged_batch(vectors(6), 3).value();
  const std::string why = "it is given ragged(int64[?], int64[?]); make tensors of ragged ones "
                          "before, with to_tensor in a map";
  EXPECT_EQ(make_batch(in, 2).status().message(), "batch: " + why);
  EXPECT_EQ(make_padded_batch(in, 2).status().message(), "padded_batch: " + why);
  auto slices = traced(in, [&](ragged r) {
    const auto parts = expr_structure{r};
    std::vector<expr_ptr> tensors;
    for (const auto& leaf : parts.leaves()) tensors.push_back(leaf.node());
    EXPECT_EQ(make_from_tensor_slices(tensors, parts.layout()).status().message(),
              "from_tensor_slices: " + why);
    return r.to_tensor();
  });
}

} // namespace
} // namespace headrace::detail
