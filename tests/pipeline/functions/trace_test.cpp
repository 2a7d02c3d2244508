#include "tests/pipeline/functions/support.hpp"

namespace headrace::detail {
namespace {

using namespace test;

const element_spec number{tensor_spec{dtype::int64, {}}};
const auto pair_spec = element_spec::tuple({number, tensor_spec{dtype::string, {}}});
const auto named_spec =
  element_spec::named({"image", "label"}, {tensor_spec{dtype::uint8, {64}}, number});

TEST(Trace, GivesOneExprAComponent) {
  auto f = trace(pair_spec, [](expr n, expr s) { return std::tuple{s, n + 1}; });
  EXPECT_EQ(to_string(f.result()), "(string[], int64[])");
  EXPECT_EQ(f.tensors[0]->op, expr_op::parameter);
  EXPECT_EQ(f.tensors[0]->scope, f.scope);
}

TEST(Trace, GivesNamedElementsAsAStructure) {
  auto f = trace(named_spec, [](const expr_structure& r) {
    return named({{"pixels", cast<float>(r["image"]) / 16}, {"label", r["label"]}});
  });
  EXPECT_EQ(to_string(f.result()), "{pixels: float32[64], label: int64[]}");
}

TEST(Trace, NestedPartsComeAsStructures) {
  const auto spec = element_spec::tuple({number, named_spec});
  auto f = trace(spec, [](expr n, expr_structure r) { return n + r["label"]; });
  EXPECT_EQ(to_string(f.result()), "int64[]");
  EXPECT_EQ(thrown_by([&] { trace(spec, [](expr a, expr b) { return a + b; }); }),
            "a single tensor is needed here, not {image: uint8[64], label: int64[]}");
}

TEST(Trace, TakesGenericLambdasAndFunctionPointers) {
  EXPECT_EQ(to_string(trace(number, [](auto x) { return x * x; }).result()), "int64[]");
  EXPECT_EQ(to_string(trace(pair_spec, [](auto, auto s) { return s; }).result()), "string[]");
  EXPECT_EQ(to_string(trace(named_spec, [](auto image, auto) { return image; }).result()),
            "uint8[64]");
  EXPECT_EQ(to_string(trace(
                        pair_spec, +[](expr n, expr) { return n; })
                        .result()),
            "int64[]");
}

TEST(Trace, ReturnsLiteralsPairsAndNestedTuples) {
  EXPECT_EQ(to_string(trace(number, [](expr) { return 1.5; }).result()), "float64[]");
  EXPECT_EQ(to_string(trace(number, [](expr) { return "text"; }).result()), "string[]");
  auto f = trace(number, [](expr x) { return std::pair{x, std::tuple{x < 3, std::tuple{x, 2}}}; });
  EXPECT_EQ(to_string(f.result()), "(int64[], (bool[], (int64[], int32[])))");
}

TEST(Trace, ReturnsDatasets) {
  auto inner = std::make_shared<const dataset_node>();
  EXPECT_EQ(trace(number, [&](expr) { return dataset_ptr{inner}; }).dataset, inner);
  struct dataset_like {
    dataset_ptr held;
    const dataset_ptr& node() const { return held; }
  };
  EXPECT_EQ(trace(number, [&](expr) { return dataset_like{inner}; }).dataset, inner);
}

TEST(Trace, TellsHowManyParametersAreNeeded) {
  EXPECT_EQ(thrown_by([] { trace(pair_spec, [](expr x) { return x; }); }),
            "the function must take 2 `expr`s, one a component, or one `expr_structure`: elements "
            "are (int64[], string[])");
  EXPECT_EQ(thrown_by([] { trace(number, [](auto x, auto y) { return x + y; }); }),
            "the function must take 1 `expr`s, one a component, or one `expr_structure`: elements "
            "are int64[]");
  EXPECT_EQ(
    thrown_by([] { trace(named_spec, [](const expr_structure& r) { return r["labels"]; }); }),
    "no field 'labels' in {image: uint8[64], label: int64[]}");
}

} // namespace
} // namespace headrace::detail
