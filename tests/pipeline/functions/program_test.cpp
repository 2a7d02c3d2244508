#include "tests/pipeline/functions/support.hpp"

namespace headrace::detail {
namespace {

using namespace test;

template <class F>
uint64_t calls_of(std::vector<column> columns, F&& f) {
  std::vector<element_spec> parts;
  for (const auto& c : columns) parts.emplace_back(spec_of_column(c));
  const auto spec = parts.size() == 1 ? parts[0] : element_spec::tuple(parts);
  kernel_counter counter;
  compile(trace(spec, f)).run(rows_of(std::move(columns)), nullptr, counter);
  return counter.calls;
}

TEST(Program, ComputesWholeColumns) {
  auto out = apply({scalars<int64_t>({1, 2, 3, 4})}, [](expr x) { return x * x + 1; });
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (std::vector<int64_t>{2, 5, 10, 17}));
}

TEST(Program, CallsAKernelOnceANodeWhateverTheNumberOfRows) {
  const auto numbers = [](expr x) {
    auto y = x * 2 + 1;
    return std::tuple{y, where(x % 3 == 0, y, 100 / (x + 1)), reduce_sum(stack({x, y, y}))};
  };
  const std::vector<int64_t> many(1000, 7);
  EXPECT_EQ(calls_of({scalars<int64_t>({7})}, numbers), calls_of({scalars(many)}, numbers));
  const auto words = [](expr s) {
    return strings::reduce_join(strings::upper(strings::split(s)), "-");
  };
  EXPECT_EQ(calls_of({texts({"a b"})}, words), 3u);
  EXPECT_EQ(calls_of({texts(std::vector<std::string>(500, "a b"))}, words), 3u);
}

TEST(Program, ComputesCommonPartsOnce) {
  EXPECT_EQ(calls_of({scalars<float>({1})},
                     [](expr x) { return exp(x) * exp(x) + exp(x + 0) / exp(0 + x); }),
            8u); // exp(x) once; two sums and their exp; product, quotient, sum
  EXPECT_EQ(calls_of({texts({"a"})}, [](expr s) { return strings::upper(s) + strings::upper(s); }),
            2u);
}

TEST(Program, FoldsConstants) {
  EXPECT_EQ(calls_of({scalars<float>({1})}, [](expr x) { return x + sqrt(expr{2.0f}) * 3; }), 1u);
}

TEST(Program, FusesChainsThatLeaveAndComeBack) {
  // The mean needs the whole row, so the chain of fused functions is cut there and nowhere else.
  auto out = apply({tensors<float>({1, 2, 3, 4, 5, 9}, {3})}, [](expr x) {
    auto centred = x - reduce_mean(x, {-1}, true);
    auto squared = centred * centred;
    return std::tuple{squared * 2 + centred, reduce_sum(squared)};
  });
  EXPECT_EQ(values_of<float>(out.columns[0]), (std::vector<float>{1, 0, 3, 6, 1, 21}));
  EXPECT_EQ(values_of<float>(out.columns[1]), (std::vector<float>{2, 14}));
}

TEST(Program, RepeatsResultsThatAreTheSameForAllRows) {
  auto out = apply({scalars<int64_t>({1, 2, 3})}, [](expr x) {
    return std::tuple{x, constant(std::vector<float>{1, 2}), expr{"a"}};
  });
  EXPECT_EQ(to_string(out.columns[1].row_shape()), "[2]");
  EXPECT_EQ(values_of<float>(out.columns[1]), (std::vector<float>{1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(texts_of(out.columns[2]), (std::vector<std::string>{"a", "a", "a"}));
}

TEST(Program, ReadsParametersOfEnclosingFunctions) {
  const auto outer = std::make_shared<const function_scope>();
  const expr captured{make_parameter(outer, 0, {dtype::int64, {2}})};
  auto f = trace(tensor_spec{dtype::int64, {}}, [&](expr x) { return captured * x; });
  const std::vector<column> values{tensors<int64_t>({10, 20}, {2})};
  const environment scope{outer.get(), values, nullptr};
  const environment nearer{f.scope.get(), {}, &scope};
  kernel_counter counter;
  auto out = compile(f).run(rows_of({scalars<int64_t>({1, 2})}), &nearer, counter);
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (std::vector<int64_t>{10, 20, 20, 40}));
  out = compile(f).run(rows_of({scalars<int64_t>({1})}), nullptr, counter);
  ASSERT_EQ(out.errors.size(), 1u);
  EXPECT_EQ(out.errors[0].why.code(), status_code::internal);
}

TEST(Program, EvaluatesExpressionsWithoutRows) {
  auto columns = compile({(expr{"a"} + "b").node(), constant(5).node()}).run_once(nullptr);
  ASSERT_TRUE(columns.ok());
  EXPECT_EQ((*columns)[0].string(0), "ab");
  auto failed = compile({(constant(1) / constant(0)).node()}).run_once(nullptr);
  EXPECT_EQ(failed.status().message(), "divide: integer division by zero");
}

/// Sums of rows of shape [outer, inner] and operands of shape [inner] or [outer, 1] are compared
/// with additions of single values. Each row has its own operand, or all rows have the same one.
TEST(Program, RepeatsShorterOperandsForAnySizeOfThem) {
  for (const size_t outer : {1, 3, 70})
    for (const size_t inner : {1, 2, 7, 256, 5000})
      for (const size_t rows : {1, 2, 9}) {
        std::vector<float> xs(rows * outer * inner), last(rows * inner), first(rows * outer);
        for (size_t i = 0; i < xs.size(); ++i) xs[i] = static_cast<float>(i);
        for (size_t i = 0; i < last.size(); ++i) last[i] = static_cast<float>(1000 * i);
        for (size_t i = 0; i < first.size(); ++i) first[i] = static_cast<float>(2000 * i);
        const auto extent = [](size_t n) { return static_cast<int64_t>(n); };
        const std::vector<float> one(last.begin(), last.begin() + extent(inner));
        auto out =
          apply({tensors<float>(xs, {extent(outer), extent(inner)}),
                 tensors<float>(last, {extent(inner)}), tensors<float>(first, {extent(outer), 1})},
                [&](expr x, expr y, expr z) {
                  return std::tuple{x + y, x + z, x + constant(one), y + z};
                });
        for (size_t r = 0, at = 0; r < rows; ++r)
          for (size_t i = 0; i < outer; ++i)
            for (size_t j = 0; j < inner; ++j, ++at) {
              const auto y = last[r * inner + j], z = first[r * outer + i];
              ASSERT_EQ(out.columns[0].values<float>()[at], xs[at] + y);
              ASSERT_EQ(out.columns[1].values<float>()[at], xs[at] + z);
              ASSERT_EQ(out.columns[2].values<float>()[at], xs[at] + one[j]);
              ASSERT_EQ(out.columns[3].values<float>()[at], y + z);
            }
      }
}

TEST(Program, BroadcastsRowsAgainstRowsAndConstants) {
  const auto matrix = tensors<int32_t>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {2, 3});
  const auto line = tensors<int32_t>({10, 20, 30, 40, 50, 60}, {3});
  auto out = apply({matrix, line}, [](expr m, expr v) {
    return std::tuple{m + v, m + constant(std::vector<int32_t>{100, 200}, shape{2, 1}), m * v[0]};
  });
  EXPECT_EQ(values_of<int32_t>(out.columns[0]),
            (std::vector<int32_t>{11, 22, 33, 14, 25, 36, 47, 58, 69, 50, 61, 72}));
  EXPECT_EQ(values_of<int32_t>(out.columns[1]),
            (std::vector<int32_t>{101, 102, 103, 204, 205, 206, 107, 108, 109, 210, 211, 212}));
  EXPECT_EQ(values_of<int32_t>(out.columns[2]),
            (std::vector<int32_t>{10, 20, 30, 40, 50, 60, 280, 320, 360, 400, 440, 480}));
}

TEST(Program, RowsOfDifferentShapesMeetRowByRow) {
  const auto a = vectors<float>({{1, 2}, {3}, {}, {4, 5, 6}});
  const auto b = vectors<float>({{10, 20}, {1, 2, 3}, {}, {1, 2}});
  auto out = apply({a, b}, [](expr x, expr y) { return std::tuple{x * 2 + 1, x + y}; });
  EXPECT_EQ(values_of<float>(out.columns[0]), (std::vector<float>{3, 5, 7, 9, 11, 13}));
  ASSERT_EQ(out.errors.size(), 1u);
  EXPECT_EQ(out.errors[0].row, 3u);
  EXPECT_EQ(out.errors[0].why.message(),
            "add: shapes [3] and [2] do not broadcast; extents must be equal or 1");
  EXPECT_EQ(to_string(out.columns[1].shape_of(1)), "[3]");
  const auto xs = out.columns[1].values<float>();
  EXPECT_EQ((std::vector<float>{xs.begin(), xs.begin() + 5}),
            (std::vector<float>{11, 22, 4, 5, 6}));
}

TEST(Program, KeepsOriginsAndFailedRows) {
  auto in = rows_of({scalars<int64_t>({4, 0, 2})});
  in.origins = {{3, 1, 2, 3}};
  in.errors.push_back({1, data_loss("torn")});
  auto out = run(trace(tensor_spec{dtype::int64, {}}, [](expr x) { return 8 / x; }), in);
  EXPECT_EQ(out.origins, in.origins);
  ASSERT_EQ(out.errors.size(), 1u);
  EXPECT_EQ(out.errors[0].why.message(), "torn");
  EXPECT_EQ(out.columns[0].values<int64_t>()[2], 4);
}

} // namespace
} // namespace headrace::detail
