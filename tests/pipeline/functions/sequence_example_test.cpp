#include "tests/pipeline/functions/everywhere.hpp"
#include "tests/pipeline/functions/examples.hpp"

#include <random>

namespace headrace::detail {
namespace {

using namespace test;
using list = std::vector<std::string>;

TEST(ParseExample, ReadsStepsOfAFixedShape) {
  auto out = apply_everywhere(
    {texts({example{}.integers("x", {1, 2, 3, 4}).done(), example{}.done(),
            example{}.integers("x", {5, 6, 7}).done(), example{}.integers("x", {8, 9}).done()})},
    [](expr s) {
      return io::parse_example(s, {io::fixed_len_sequence_feature("x", {2}, dtype::int64)});
    });
  EXPECT_EQ(errors_of(out),
            (list{"2: parse_example: feature 'x' has 3 values; steps of [2] have 2"}));
  EXPECT_EQ(to_string(out.columns[0].shape_of(0)), "[2, 2]");
  EXPECT_EQ(to_string(out.columns[0].shape_of(1)), "[0, 2]");
  EXPECT_EQ(to_string(out.columns[0].shape_of(3)), "[1, 2]");
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (std::vector<int64_t>{1, 2, 3, 4, 8, 9}));
}

TEST(ParseExample, PutsSparseValuesInTheirPlaces) {
  const auto row = [](const std::vector<int64_t>& places, const std::vector<float>& values) {
    return example{}.floats("v", values).integers("i", places).done();
  };
  auto out = apply_everywhere(
    {texts({row({3, 0}, {1.5f, 2}), row({}, {}), row({4}, {1}), row({1, 1}, {1, 2}),
            row({1}, {1, 2}), example{}.floats("v", {1}).done(), example{}.done()})},
    [](expr s) {
      return io::parse_example(s, {io::sparse_feature("v", "i", dtype::float32, 4, -1.0f)});
    });
  EXPECT_EQ(errors_of(out), (list{"2: parse_example: place 4 in 'i' is not in [0, 4)",
                                  "3: parse_example: place 1 is in 'i' twice",
                                  "4: parse_example: 'i' has 1 places for the 2 values of 'v'",
                                  "5: parse_example: feature 'i' is missing beside 'v'"}));
  const auto all = values_of<float>(out.columns[0]);
  EXPECT_EQ((std::vector<float>{all.begin(), all.begin() + 8}),
            (std::vector<float>{2, -1, -1, 1.5f, -1, -1, -1, -1}));
  EXPECT_EQ((std::vector<float>{all.end() - 4, all.end()}), (std::vector<float>{-1, -1, -1, -1}));
}

TEST(ParseExample, FillsRaggedLines) {
  const auto row = [](const std::vector<int64_t>& lengths, const list& values) {
    return example{}.integers("n", lengths, false).bytes("w", values).done();
  };
  auto out = apply_everywhere(
    {texts({row({2, 0, 1}, {"a", "b", "c"}), row({}, {}), row({1, 1}, {"x", "y"}),
            row({1}, {"x", "y"}), row({3}, {"x"}), row({-1, 2}, {"x"})})},
    [](expr s) {
      return io::parse_example(s, {io::ragged_feature("w", "n", dtype::string, "-")});
    });
  const auto& c = out.columns[0];
  EXPECT_EQ(to_string(c.shape_of(0)), "[3, 2]");
  EXPECT_EQ(to_string(c.shape_of(1)), "[0, 0]");
  EXPECT_EQ(to_string(c.shape_of(2)), "[2, 1]");
  EXPECT_EQ(texts_of(c), (list{"a", "b", "-", "-", "c", "-", "x", "y"}));
  EXPECT_EQ(errors_of(out),
            (list{"3: parse_example: row lengths in 'n' add up to 1, but 'w' has 2 values",
                  "4: parse_example: row lengths in 'n' do not add up to the 1 values of 'w'",
                  "5: parse_example: row lengths in 'n' do not add up to the 1 values of 'w'"}));
}

TEST(ParseSequenceExample, ReadsContextAndLists) {
  const auto step = [](const std::vector<int64_t>& xs) { return example{}.integers("", xs); };
  const auto word = [](const list& xs) { return example{}.bytes("", xs); };
  auto out = apply_everywhere(
    {texts({example{}
              .integers("id", {7})
              .list("x", {step({1, 2}), step({3, 4})})
              .list("w", {word({"a"}), word({}), word({"b", "c"})})
              .done(),
            example{}.integers("id", {8}).done(),
            example{}.integers("id", {9}).list("x", {step({1, 2}), step({3})}).done(),
            example{}.list("x", {}).done(),
            example{}.integers("id", {1}).list("x", {word({"s"})}).done(), "\x0a\xff"})},
    [](expr s) {
      auto [context, lists] =
        io::parse_sequence_example(s, {io::fixed_len_feature("id", {}, dtype::int64)},
                                   {io::fixed_len_sequence_feature("x", {2}, dtype::int64),
                                    io::var_len_feature("w", dtype::string)});
      return std::tuple{context["id"], lists["x"], lists["w"]};
    });
  EXPECT_EQ(values_of<int64_t>(out.columns[0])[0], 7);
  EXPECT_EQ(to_string(out.columns[1].shape_of(0)), "[2, 2]");
  EXPECT_EQ(to_string(out.columns[1].shape_of(1)), "[0, 2]");
  EXPECT_EQ(to_string(out.columns[2].shape_of(0)), "[3, 2]");
  EXPECT_EQ(to_string(out.columns[2].shape_of(1)), "[0, 0]");
  EXPECT_EQ(texts_of(out.columns[2]), (list{"a", "", "", "", "b", "c"}));
  const auto errors = errors_of(out);
  ASSERT_EQ(errors.size(), 4u);
  EXPECT_EQ(errors[0], "2: parse_sequence_example: step 1 of 'x' has 1 values; [2] asks for 2");
  EXPECT_EQ(errors[1], "3: parse_sequence_example: feature 'id' is missing and has no default; "
                       "int64[] was asked for");
  EXPECT_EQ(errors[2],
            "4: parse_sequence_example: feature 'x' holds string values; int64 was asked "
            "for");
  EXPECT_EQ(errors[3].substr(0, 66),
            "5: parse_sequence_example: 2 bytes are no tf.train.SequenceExample");
}

TEST(ParseSequenceExample, ChecksItsFeatures) {
  EXPECT_EQ(thrown_by([] { io::parse_sequence_example("", {}, {}); }),
            "parse_sequence_example: no features asked for; name at least one");
  EXPECT_EQ(thrown_by([] {
              io::parse_sequence_example("", {}, {io::fixed_len_feature("x", {}, dtype::int64)});
            }),
            "parse_sequence_example: feature 'x' is a list: it has steps of a shape, or of any "
            "length");
  EXPECT_EQ(thrown_by([] { io::sparse_feature("v", "i", dtype::int64, 0); }),
            "parse_example: feature 'v' has 0 places; at least 1 is needed");
  EXPECT_EQ(
    thrown_by([] { io::parse_example("", {io::ragged_feature("v", "n", dtype::int64, "x")}); }),
    "parse_example: operands are string and int64");
}

TEST(ParseSequenceExample, MutantsNeverDoMoreThanFail) {
  const uint64_t seed = 31;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random{seed};
  const auto whole = example{}
                       .integers("n", {2, 0, 1})
                       .bytes("w", {"a", "b", "c"})
                       .integers("i", {1})
                       .floats("v", {2})
                       .list("x", {example{}.integers("", {1}), example{}.integers("", {2, 3})})
                       .done();
  list rows;
  for (int i = 0; i < 2000; ++i) {
    rows.push_back(whole);
    for (auto n = random() % 4; n > 0; --n)
      rows.back()[random() % whole.size()] = static_cast<char>(random());
  }
  auto out = apply({texts(rows)}, [](expr s) {
    auto [context, lists] =
      io::parse_sequence_example(s,
                                 {io::ragged_feature("w", "n", dtype::string),
                                  io::sparse_feature("v", "i", dtype::float32, 3)},
                                 {io::var_len_feature("x", dtype::int64)});
    return expr_structure::tuple({context, lists});
  });
  EXPECT_EQ(out.rows, rows.size());
  EXPECT_FALSE(out.errors.empty());
  EXPECT_LT(out.errors.size(), rows.size());
}

} // namespace
} // namespace headrace::detail
