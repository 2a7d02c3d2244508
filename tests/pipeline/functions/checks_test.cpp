#include "headrace/pipeline/functions/control.hpp"
#include "headrace/pipeline/functions/debugging.hpp"
#include "tests/pipeline/functions/everywhere.hpp"
#include "tests/pipeline/functions/examples.hpp"

#include <random>

namespace headrace::detail {
namespace {

using namespace test;
using list = std::vector<std::string>;

TEST(Debugging, AnAssertionFailsTheRowWithTheUsersMessageAndItsValues) {
  auto out = apply_everywhere(
    {scalars<int64_t>({1, 5, 3}), tensors<int64_t>({2, 2, 4, 9, 3, 4}, {2})}, [](expr x, expr y) {
      return std::tuple{debugging::assert_less(x, y, "labels"), debugging::assert_equal(y, y)};
    });
  EXPECT_EQ(errors_of(out), (list{"1: debugging.assert_less: labels: x = 5, y = [4, 9]",
                                  "2: debugging.assert_less: labels: x = 3, y = [3, 4]"}));
  EXPECT_EQ(values_of<int64_t>(out.columns[0])[0], 1);
}

TEST(Debugging, EachComparisonIsTheOneItIsNamedFor) {
  const auto failing = [](auto assertion) {
    auto out = apply({scalars<int32_t>({-1, 0, 1})}, [&](expr x) { return assertion(x); });
    std::string rows;
    for (const auto& e : out.errors) rows += std::to_string(e.row);
    return rows;
  };
  using namespace debugging;
  EXPECT_EQ(failing([](expr x) { return assert_equal(x, 0); }), "02");
  EXPECT_EQ(failing([](expr x) { return assert_none_equal(x, 0); }), "1");
  EXPECT_EQ(failing([](expr x) { return assert_less(x, 0); }), "12");
  EXPECT_EQ(failing([](expr x) { return assert_less_equal(x, 0); }), "2");
  EXPECT_EQ(failing([](expr x) { return assert_greater(x, 0); }), "01");
  EXPECT_EQ(failing([](expr x) { return assert_greater_equal(x, 0); }), "0");
  EXPECT_EQ(failing([](expr x) { return assert_positive(x); }), "01");
  EXPECT_EQ(failing([](expr x) { return assert_negative(x); }), "12");
  EXPECT_EQ(failing([](expr x) { return assert_non_negative(x); }), "0");
  EXPECT_EQ(failing([](expr x) { return assert_non_positive(x); }), "2");
  EXPECT_EQ(failing([](expr x) { return Assert(x, stack({x > -1, x < 1})); }), "02");
}

TEST(Debugging, NearIsRelativeAndAbsolute) {
  auto out = apply({scalars<float>({100.0001f, 100.01f, 1e-6f}), scalars<float>({100, 100, 0})},
                   [](expr x, expr y) { return debugging::assert_near(x, y); });
  EXPECT_EQ(errors_of(out), (list{"1: debugging.assert_near: x is near y: x = 100.01, y = 100"}));
  // By default the absolute and the relative tolerance are ten steps of the dtype each, together 20
  // at the value 1.
  const auto near = [](double relative, auto one) {
    return errors_of(apply({scalars<decltype(one)>({static_cast<decltype(one)>(1 + relative)})},
                           [&](expr x) { return debugging::assert_near(x, constant(one)); }))
      .empty();
  };
  // A distance that equals the tolerance is too far.
  EXPECT_TRUE(near(19 * 0x1p-23, 1.0f));
  EXPECT_FALSE(near(20 * 0x1p-23, 1.0f));
  EXPECT_TRUE(near(19 * 0x1p-52, 1.0));
  EXPECT_FALSE(near(20 * 0x1p-52, 1.0));
}

TEST(Debugging, CheckNumericsTellsWhatIsThere) {
  const float nan = NAN, inf = INFINITY;
  auto out = apply_everywhere({tensors<float>({1, 2, nan, 1, inf, 1, nan, -inf}, {2})},
                              [](expr x) { return debugging::check_numerics(x, "loss"); });
  EXPECT_EQ(errors_of(out),
            (list{"1: debugging.check_numerics: loss: the tensor has NaN values",
                  "2: debugging.check_numerics: loss: the tensor has Inf values",
                  "3: debugging.check_numerics: loss: the tensor has Inf and NaN values"}));
  EXPECT_EQ(thrown_by([] { debugging::check_numerics(1, "x"); }),
            "debugging.check_numerics: the values are int32[]; they must be floats");
}

TEST(Debugging, WhatIsKnownWhenTracedThrowsThere) {
  EXPECT_EQ(thrown_by([] { debugging::assert_type(1, dtype::float32, "m"); }),
            "debugging.assert_type: m: the tensor is int32[]; float32 is needed");
  EXPECT_EQ(thrown_by([] { debugging::assert_integer(1.0); }),
            "debugging.assert_integer: the tensor is float64[]; integers are needed");
  EXPECT_EQ(thrown_by([] { debugging::assert_rank(1, 2); }),
            "debugging.assert_rank: the tensor is int32[]; rank 2 is needed");
  EXPECT_EQ(thrown_by([] { debugging::assert_scalar(constant(std::vector<int>{1})); }),
            "debugging.assert_rank: the tensor is int32[1]; rank 0 is needed");
}

TEST(Cond, TakesTheChosenBranchWithItsShape) {
  auto out = apply_everywhere({scalars<int64_t>({1, 0, 3})}, [](expr n) {
    return cond(
      n > 0,
      [&] {
        return std::tuple{stack({n, n}), expr{"some"}};
      },
      [&] {
        return std::tuple{constant(std::vector<int64_t>{}), expr{"none"}};
      });
  });
  EXPECT_TRUE(out.errors.empty());
  EXPECT_EQ(to_string(out.columns[0].shape_of(0)), "[2]");
  EXPECT_EQ(to_string(out.columns[0].shape_of(1)), "[0]");
  EXPECT_EQ(texts_of(out.columns[1]), (list{"some", "none", "some"}));
}

TEST(Cond, OnlyWhatIsChosenCanFail) {
  auto out = apply_everywhere(
    {texts({"1", "x", "3"}), scalars<int32_t>({1, 0, 1})}, [](expr s, expr is_number) {
      return cond(
        is_number == 1, [&] { return strings::to_number<int64_t>(s) / 2; },
        [&] { return cast<int64_t>(strings::length(s)); });
    });
  EXPECT_TRUE(out.errors.empty());
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (std::vector<int64_t>{0, 1, 1}));
  out = apply_everywhere({texts({"1", "x"})}, [](expr s) {
    return cond(
      s == "x", [&] { return strings::to_number<int64_t>(s); },
      [] { return constant(int64_t{0}); });
  });
  EXPECT_EQ(errors_of(out), (list{"1: strings.to_number: 'x' is no int64"}));
}

TEST(Cond, AFailingConditionFailsTheRow) {
  auto out = apply_everywhere({scalars<int32_t>({0, 1})}, [](expr n) {
    return cond(
      1 / n > 0, [] { return expr{"a"}; }, [] { return expr{"b"}; });
  });
  EXPECT_EQ(errors_of(out), (list{"0: divide: integer division by zero"}));
}

TEST(Cond, AValueThatIsUsedOutsideOfABranchIsThereEverywhere) {
  auto out = apply_everywhere({texts({"a b", "c", "d e f"})}, [](expr s) {
    const auto words = strings::split(s);
    const auto n = size(words);
    const auto nested = cond(
      n > 1,
      [&] {
        return cond(
          n > 2, [&] { return strings::reduce_join(words, "-"); },
          [&] { return strings::upper(strings::reduce_join(words, "+")); });
      },
      [&] { return strings::reduce_join(words, "!") + "?"; });
    return std::tuple{nested, strings::reduce_join(words, "!")};
  });
  EXPECT_EQ(texts_of(out.columns[0]), (list{"A+B", "c?", "d-e-f"}));
  EXPECT_EQ(texts_of(out.columns[1]), (list{"a!b", "c", "d!e!f"}));
}

TEST(Cond, FeaturesOfOneParseMayBeUsedInsideAndOutside) {
  list rows;
  for (int64_t i = 0; i < 3; ++i)
    rows.push_back(example{}.integers("a", {i}).bytes("b", {"x y"}).integers("c", {i, i}).done());
  auto out = apply_everywhere({texts(rows), scalars<int64_t>({1, 0, 1})}, [](expr s, expr flag) {
    const auto parsed = io::parse_example(s, {io::fixed_len_feature("a", {}, dtype::int64),
                                              io::var_len_feature("b", dtype::string),
                                              io::var_len_feature("c", dtype::int64)});
    const auto chosen = cond(
      flag == 1, [&] { return strings::reduce_join(parsed["b"], "!"); }, [] { return expr{"-"}; });
    return std::tuple{chosen, parsed["c"] * 2, reduce_sum(parsed["c"]) + parsed["a"]};
  });
  EXPECT_TRUE(out.errors.empty());
  EXPECT_EQ(texts_of(out.columns[0]), (list{"x y", "-", "x y"}));
  EXPECT_EQ(values_of<int64_t>(out.columns[1]), (std::vector<int64_t>{0, 0, 2, 2, 4, 4}));
  EXPECT_EQ(values_of<int64_t>(out.columns[2]), (std::vector<int64_t>{0, 3, 6}));
}

TEST(WhileLoop, GoesRoundAsOftenAsEachElementSays) {
  auto out = apply_everywhere({scalars<int64_t>({27, 1, 0, 7})}, [](expr n) {
    const auto done = while_loop(
      [](const expr_structure& v) { return v[0] > 1; },
      [](const expr_structure& v) {
        return expr_structure::tuple({where(v[0] % 2 == 0, v[0] / 2, v[0] * 3 + 1), v[1] + 1});
      },
      expr_structure::tuple({n, constant(int64_t{0})}), 120);
    const auto doubled =
      while_loop([](expr x) { return x < 100; }, [](expr x) { return x * 2; }, n + int64_t{1}, 4);
    return std::tuple{done[0], done[1], doubled};
  });
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (std::vector<int64_t>{1, 1, 0, 1}));
  EXPECT_EQ(values_of<int64_t>(out.columns[1]), (std::vector<int64_t>{111, 0, 0, 16}));
  EXPECT_EQ(values_of<int64_t>(out.columns[2]), (std::vector<int64_t>{112, 32, 16, 128}));
}

TEST(WhileLoop, HasRunBeforeAnyOfItsResultsIsRead) {
  auto out = apply_everywhere({scalars<int64_t>({0, 1, 2, 3})}, [](expr n) {
    const auto done = while_loop([](const expr_structure& v) { return v[0] < 3; },
                                 [](const expr_structure& v) {
                                   return expr_structure::tuple({v[0] + 1, v[1] + 1});
                                 },
                                 expr_structure::tuple({n, constant(int64_t{0})}));
    // One result of the loop is used only in a branch, whose condition is computed late. The other
    // result is used for all rows, early.
    auto late = n;
    for (int i = 0; i < 4; ++i) late = reduce_sum(stack({late, n}));
    const auto chosen = cond(
      late % 2 == 0,
      [&] {
        return reduce_sum(stack({done[0], n}));
      },
      [&] { return n; });
    return std::tuple{chosen, done[1] * 2};
  });
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (std::vector<int64_t>{3, 1, 5, 3}));
  EXPECT_EQ(values_of<int64_t>(out.columns[1]), (std::vector<int64_t>{6, 4, 2, 0}));
}

TEST(WhileLoop, CapturesWhatLoopsBeforeItGive) {
  auto out = apply_everywhere({scalars<int64_t>({0, 1, 2})}, [](expr n) {
    // If each step of a loop ran the loops before it again, there would be 2^30 runs.
    auto sum = n;
    for (int i = 0; i < 30; ++i)
      sum = while_loop([](const expr_structure& v) { return v[0] < 2; },
                       [&](const expr_structure& v) {
                         return expr_structure::tuple({v[0] + 1, v[1] + sum % 7 + 1});
                       },
                       expr_structure::tuple({constant(int64_t{0}), n}))[1];
    return sum;
  });
  std::vector<int64_t> want{0, 1, 2};
  for (auto& x : want) {
    const auto n = x;
    for (int i = 0; i < 30; ++i) x = n + 2 * (x % 7 + 1);
  }
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), want);
}

TEST(WhileLoop, KeepsALoopInsideThatOthersNeverEnd) {
  auto out = apply_everywhere({scalars<int64_t>({0, 1})}, [](expr n) {
    return while_loop([](expr x) { return x < 1; },
                      [&](expr x) {
                        // The inner loop would not end for the element 1, which does not reach it.
                        return x + 1
                               + while_loop([](expr y) { return y != 4; },
                                            [](expr y) { return y + 2; }, n * int64_t{3});
                      },
                      n);
  });
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (std::vector<int64_t>{5, 1}));
}

TEST(WhileLoop, OnlyStepsThatAreTakenCanFail) {
  auto out = apply_everywhere({scalars<int64_t>({1, 2, 3})}, [](expr n) {
    // The step divides by 0 when x is 0.
    return while_loop([](expr x) { return x != 2; }, [](expr x) { return x - 1 + x / x * 0; }, n,
                      8);
  });
  EXPECT_EQ(errors_of(out), (list{"0: divide: integer division by zero"}));
  EXPECT_EQ(values_of<int64_t>(out.columns[0])[2], 2);
  EXPECT_EQ(thrown_by([] {
              while_loop([](expr x) { return x > 0; }, [](expr x) { return x; }, expr{1}, -1);
            }),
            "while_loop: maximum_iterations is -1; it must be 0 or more");
}

TEST(WhileLoop, NamesTheVariableThatAStepChanges) {
  const auto forever = [](expr) { return expr{true}; };
  EXPECT_EQ(thrown_by([&] {
              while_loop(
                forever, [](expr x) { return cast<float>(x); }, constant(int64_t{1}));
            }),
            "while_loop: variable 0 is int64[] before a step and float32[] after it; cast one");
  EXPECT_EQ(thrown_by([&] {
              while_loop(
                forever,
                [](expr x) {
                  return concat({x, x}, 0);
                },
                constant(std::vector<int64_t>{1}));
            }),
            "while_loop: variable 0 is int64[1] before a step and int64[2] after it; give a shape "
            "invariant that allows both");
  EXPECT_EQ(
    thrown_by([&] { while_loop([](expr x) { return x; }, [](expr x) { return x; }, expr{1}); }),
    "while_loop: the condition is int32[]; it must be a bool scalar");
}

TEST(WhileLoop, VariablesGrowAsAnInvariantAllows) {
  auto out = apply_everywhere({scalars<int64_t>({3, 0, 1})}, [](expr n) {
    const auto done = while_loop(
      [](const expr_structure& v) { return size(v[1]) <= v[0]; },
      [](const expr_structure& v) {
        return expr_structure::tuple({v[0], concat({v[1], reshape(v[0], {1})}, 0)});
      },
      expr_structure::tuple({n, reshape(n, {1})}), std::nullopt, {shape{}, shape{shape::unknown}});
    return reduce_sum(done[1]);
  });
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (std::vector<int64_t>{12, 0, 2}));
}

TEST(WhileLoop, LoopsInLoopsUseWhatIsAroundThem) {
  auto out = apply_everywhere({scalars<int64_t>({4, 0, 7})}, [](expr n) {
    const auto zero = constant(int64_t{0});
    const auto done =
      while_loop([&](const expr_structure& v) { return v[0] < n; },
                 [&](const expr_structure& v) {
                   const auto inner =
                     while_loop([&](const expr_structure& w) { return w[0] < v[0]; },
                                [&](const expr_structure& w) {
                                  return expr_structure::tuple({w[0] + 1, w[1] + n * v[0] + w[0]});
                                },
                                expr_structure::tuple({zero, v[1]}));
                   return expr_structure::tuple({v[0] + 1, inner[1]});
                 },
                 expr_structure::tuple({zero, zero}));
    return done[1];
  });
  std::vector<int64_t> want;
  for (int64_t n : {4, 0, 7}) {
    int64_t s = 0;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < i; ++j) s += n * i + j;
    want.push_back(s);
  }
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), want);
}

TEST(WhileLoop, ElementsOfTheOtherBranchDoNotEnterIt) {
  auto out = apply_everywhere({scalars<int64_t>({1, -1, 3})}, [](expr n) {
    // The loop would not end for negative numbers.
    return cond(
      n > 0,
      [&] { return while_loop([](expr x) { return x != 0; }, [](expr x) { return x - 1; }, n); },
      [&] { return n; });
  });
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (std::vector<int64_t>{0, -1, 0}));
}

TEST(WhileLoop, IsEndedByAStop) {
  std::stop_source stop;
  const auto forever = trace(element_spec{tensor_spec{dtype::int64, {}}}, [](expr n) {
    return while_loop([](expr) { return expr{true}; }, [](expr x) { return x + 1; }, n);
  });
  block in;
  in.rows = 1;
  in.columns.push_back(scalars<int64_t>({1}));
  kernel_counter counter{.stop = stop.get_token()};
  stop.request_stop();
  const auto out = compile(forever).run(in, nullptr, counter);
  ASSERT_EQ(out.errors.size(), 1u);
  EXPECT_EQ(out.errors[0].why.code(), status_code::cancelled);
}

TEST(Cond, ChecksItsParts) {
  EXPECT_EQ(thrown_by([] {
              cond(
                expr{1}, [] { return 1; }, [] { return 2; });
            }),
            "cond: the condition is int32[]; it must be a bool scalar");
  EXPECT_EQ(thrown_by([] {
              cond(
                expr{true}, [] { return expr{"a"}; }, [] { return expr{2}; });
            }),
            "cond: operands are string and int32");
  EXPECT_EQ(
    thrown_by([] {
      cond(
        expr{true},
        [] {
          return std::tuple{1, 2};
        },
        [] { return std::tuple{1}; });
    }),
    "cond: the branches are (int32[], int32[]) and (int32[]); they must have one structure");
}

} // namespace
} // namespace headrace::detail
