#include "headrace/pipeline/functions/representation/value.hpp"
#include "tests/pipeline/functions/everywhere.hpp"
#include "tests/pipeline/functions/examples.hpp"

#include <random>

namespace headrace::detail {
namespace {

using namespace test;
using protozero::pbf_writer;

block parse(const std::vector<std::string>& rows, const std::vector<feature_spec>& features) {
  return apply({texts(rows)}, [&](expr s) { return io::parse_example(s, features); });
}

TEST(ParseExample, ReadsFixedFeaturesOfEveryKind) {
  const auto row = [](int64_t i, bool packed) {
    return example{}
      .integers("label", {i}, packed)
      .floats("box", {1.5f, -2.0f, static_cast<float>(i), 0}, packed)
      .bytes("image", {std::string(3, static_cast<char>('a' + i))})
      .integers("unasked", {1, 2, 3})
      .done();
  };
  auto out =
    parse({row(0, true), row(1, false)}, {io::fixed_len_feature("image", {}, dtype::string),
                                          io::fixed_len_feature("label", {}, dtype::int64),
                                          io::fixed_len_feature("box", {2, 2}, dtype::float32)});
  ASSERT_TRUE(out.errors.empty()) << out.errors[0].why.message();
  EXPECT_EQ(texts_of(out.columns[0]), (std::vector<std::string>{"aaa", "bbb"}));
  EXPECT_EQ(values_of<int64_t>(out.columns[1]), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(values_of<float>(out.columns[2]), (std::vector<float>{1.5f, -2, 0, 0, 1.5f, -2, 1, 0}));
  EXPECT_EQ(to_string(out.columns[2].row_shape()), "[2, 2]");
}

TEST(ParseExample, ReadsVariableFeatures) {
  const auto rows = std::vector<std::string>{
    example{}.integers("n", {1, -2, 3}).bytes("s", {"a", "bc"}).done(),
    example{}.done(),
    example{}.integers("n", {7}).bytes("s", {}).done(),
  };
  auto out =
    parse(rows, {io::var_len_feature("n", dtype::int64), io::var_len_feature("s", dtype::string)});
  ASSERT_TRUE(out.errors.empty()) << out.errors[0].why.message();
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (std::vector<int64_t>{1, -2, 3, 7}));
  EXPECT_EQ(to_string(out.columns[0].shape_of(0)), "[3]");
  EXPECT_EQ(to_string(out.columns[0].shape_of(1)), "[0]");
  EXPECT_EQ(texts_of(out.columns[1]), (std::vector<std::string>{"a", "bc"}));
}

TEST(ParseExample, DefaultsStandForMissingFeatures) {
  auto out =
    parse({example{}.integers("n", {5, 6}).done(), example{}.done(), example{}.nothing("n").done()},
          {io::fixed_len_feature("n", {2}, dtype::int64, -1),
           io::fixed_len_feature("s", {2}, dtype::string, "none")});
  ASSERT_TRUE(out.errors.empty()) << out.errors[0].why.message();
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (std::vector<int64_t>{5, 6, -1, -1, -1, -1}));
  EXPECT_EQ(out.columns[1].string(5), "none");
}

TEST(ParseExample, ErrorsNameTheFeatureWhatWasWantedAndWhatWasFound) {
  const auto good = example{}.integers("n", {1, 2}).done();
  auto out = parse({good, example{}.integers("n", {1}).done(), example{}.done(),
                    example{}.floats("n", {1, 2}).done(), good, std::string{"\xff\xff junk"}, good},
                   {io::fixed_len_feature("n", {2}, dtype::int64)});
  std::vector<std::string> errors;
  for (const auto& e : out.errors) errors.push_back(std::to_string(e.row) + ": " + e.why.message());
  ASSERT_EQ(errors.size(), 4u);
  EXPECT_EQ(errors[0], "1: parse_example: feature 'n' has 1 values; int64[2] asks for 2");
  EXPECT_EQ(errors[1],
            "2: parse_example: feature 'n' is missing and has no default; int64[2] was asked for");
  EXPECT_EQ(errors[2], "3: parse_example: feature 'n' holds float32 values; int64 was asked for");
  EXPECT_EQ(errors[3].substr(0, 46), "5: parse_example: 7 bytes are no tf.train.Exam");
  EXPECT_EQ(out.errors[3].why.code(), status_code::invalid_argument);
  const auto n = out.columns[0].values<int64_t>();
  EXPECT_EQ(n[8], 1);
  EXPECT_EQ(n[13], 2);
}

TEST(ParseExample, TheLastOfAFeatureNamedTwiceCounts) {
  auto out = parse({example{}.integers("n", {1}).integers("n", {2}).done()},
                   {io::fixed_len_feature("n", {}, dtype::int64)});
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (std::vector<int64_t>{2}));
}

TEST(ParseExample, ParsesOnceForAllFeatures) {
  const auto row = example{}.integers("a", {1}).integers("b", {2}).done();
  auto f = trace(tensor_spec{dtype::string, {}}, [](expr s) {
    auto r = io::parse_example(s, {io::fixed_len_feature("a", {}, dtype::int64),
                                   io::fixed_len_feature("b", {}, dtype::int64)});
    return std::tuple{r["a"], r["b"]};
  });
  kernel_counter counter;
  auto out = compile(f).run(rows_of({texts({row, row})}), nullptr, counter);
  EXPECT_EQ(counter.calls, 1u);
  EXPECT_EQ(values_of<int64_t>(out.columns[1]), (std::vector<int64_t>{2, 2}));
}

TEST(ParseExample, DamagedBytesNeverDoMoreThanFailTheirRow) {
  const auto good =
    example{}.integers("n", {1, 1000000, -5}).bytes("s", {"abc", "d"}).floats("f", {1, 2}).done();
  const uint64_t seed = 77;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random{seed};
  std::vector<std::string> rows;
  for (int i = 0; i < 3000; ++i) {
    auto row = good;
    for (auto flips = random() % 4; flips != 0; --flips)
      row[random() % row.size()] ^= static_cast<char>(1u << (random() % 8));
    if (random() % 4 == 0)
      row.resize(random() % row.size());
    rows.push_back(std::move(row));
  }
  rows.push_back(good);
  auto out = parse(rows, {io::var_len_feature("n", dtype::int64),
                          io::fixed_len_feature("s", {2}, dtype::string),
                          io::fixed_len_feature("f", {2}, dtype::float32, 0)});
  EXPECT_GT(out.errors.size(), 100u);
  EXPECT_LT(out.errors.size(), rows.size());
  const auto last = print_rows(out).back();
  EXPECT_EQ(last, print_rows(parse({good}, {io::var_len_feature("n", dtype::int64),
                                            io::fixed_len_feature("s", {2}, dtype::string),
                                            io::fixed_len_feature("f", {2}, dtype::float32, 0)}))
                    .back());
}

/// Batches of serialised examples: vectors of different lengths.
column batches(const std::vector<std::vector<std::string>>& rows) {
  detail::column_builder out{dtype::string, rows.size()};
  for (const auto& row : rows) {
    for (const auto& one : row) out.add_string(one);
    out.end_row(shape{static_cast<int64_t>(row.size())});
  }
  return std::move(out).finish();
}

TEST(ParseExample, OfSeveralFillsFeaturesToTheLongest) {
  const auto two = example{}.integers("n", {1, 2}).bytes("s", {"a", "b", "c"}).done();
  const auto one = example{}.integers("n", {3, 4}).floats("steps", {1, 2, 3, 4}).done();
  auto out = apply_everywhere({batches({{two, one}, {}, {one}})}, [](expr s) {
    return io::parse_example(
      s, {io::fixed_len_feature("n", {2}, dtype::int64), io::var_len_feature("s", dtype::string),
          io::fixed_len_sequence_feature("steps", {2}, dtype::float32, -1.f)});
  });
  EXPECT_EQ(errors_of(out), std::vector<std::string>{});
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (std::vector<int64_t>{1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(print_row(out.columns[0], 1), "int64[0, 2]:");
  EXPECT_EQ(print_row(out.columns[1], 0), "string[2, 3]: 'a' 'b' 'c' '' '' ''");
  EXPECT_EQ(to_string(out.columns[1].shape_of(1)), "[0, 0]");
  EXPECT_EQ(to_string(out.columns[1].shape_of(2)), "[1, 0]");
  EXPECT_EQ(values_of<float>(out.columns[2]),
            (std::vector<float>{-1, -1, -1, -1, 1, 2, 3, 4, 1, 2, 3, 4}));
  EXPECT_EQ(to_string(out.columns[2].shape_of(0)), "[2, 2, 2]");
}

TEST(ParseExample, OfSeveralFailsWithTheNumberOfTheBadOne) {
  const auto good = example{}.integers("n", {1}).done();
  auto out =
    apply_everywhere({batches({{good, good}, {good, example{}.done()}, {good}})}, [](expr s) {
      return io::parse_example(s, {io::fixed_len_feature("n", {}, dtype::int64)});
    });
  EXPECT_EQ(errors_of(out),
            (std::vector<std::string>{"1: parse_example: example 1: feature 'n' is missing and has "
                                      "no default; int64[] was asked for"}));
  EXPECT_EQ(print_row(out.columns[0], 2), "int64[1]: 0100000000000000");
  const auto wrong = [](shape dims, feature_spec feature) {
    return thrown_by([&] {
      trace(tensor_spec{dtype::string, dims},
            [&](expr s) { return io::parse_example(s, {feature}); });
    });
  };
  EXPECT_EQ(wrong({2, 2}, io::var_len_feature("n", dtype::int64)),
            "parse_example: the serialized example has shape [2, 2]; a scalar is needed, or a "
            "vector");
  EXPECT_EQ(wrong({2}, io::ragged_feature("n", "lengths", dtype::int64)),
            "parse_example: feature 'n' has rows of different lengths: it is read from one example "
            "at a time");
}

} // namespace
} // namespace headrace::detail
