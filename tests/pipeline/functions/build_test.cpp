#include "tests/pipeline/functions/support.hpp"

namespace headrace::detail {
namespace {

using namespace test;

expr param(dtype type, shape dims) {
  static const auto scope = std::make_shared<const function_scope>();
  return expr{make_parameter(scope, 0, {type, std::move(dims)})};
}

TEST(Build, InfersDtypesAndShapes) {
  const auto x = param(dtype::float32, {3, shape::unknown});
  EXPECT_EQ(to_string((x + 1).spec()), "float32[3, ?]");
  EXPECT_EQ(to_string((x < 1).spec()), "bool[3, ?]");
  EXPECT_EQ(to_string((x + param(dtype::float32, {1, 4})).spec()), "float32[3, 4]");
  EXPECT_EQ(to_string((x + param(dtype::float32, {2, 1, 1})).spec()), "float32[2, 3, ?]");
  EXPECT_EQ(to_string((x + param(dtype::float32, shape::unknown_rank())).spec()),
            "float32<unknown>");
  EXPECT_EQ(to_string(reduce_sum(x, {1}).spec()), "float32[3]");
  EXPECT_EQ(to_string(reduce_sum(x, {-1}, true).spec()), "float32[3, 1]");
  EXPECT_EQ(to_string(reduce_max(x).spec()), "float32[]");
  EXPECT_EQ(to_string(argmax(x, 1).spec()), "int64[3]");
  EXPECT_EQ(to_string(reshape(x, {-1}).spec()), "float32[?]");
  EXPECT_EQ(to_string(reshape(param(dtype::int8, {4, 3}), {2, -1}).spec()), "int8[2, 6]");
  EXPECT_EQ(to_string(x[1].spec()), "float32[?]");
  EXPECT_EQ(to_string(x.slice({at::ellipsis(), at::index(0)}).spec()), "float32[3]");
  EXPECT_EQ(to_string(x.slice({at::range(0, 2), at::new_axis()}).spec()), "float32[2, 1, ?]");
  EXPECT_EQ(to_string(x.slice({at::all(-2)}).spec()), "float32[2, ?]");
  EXPECT_EQ(to_string(stack({x, x}, 1).spec()), "float32[3, 2, ?]");
  EXPECT_EQ(to_string(concat({x, x}, 0).spec()), "float32[6, ?]");
  EXPECT_EQ(to_string(concat({x, x}, 1).spec()), "float32[3, ?]");
  EXPECT_EQ(to_string(transpose(x).spec()), "float32[?, 3]");
  EXPECT_EQ(to_string(expand_dims(x, -1).spec()), "float32[3, ?, 1]");
  EXPECT_EQ(to_string(squeeze(param(dtype::bfloat16, {1, 5, 1})).spec()), "bfloat16[5]");
  EXPECT_EQ(to_string(shape_of(x).spec()), "int64[2]");
  EXPECT_EQ(to_string(size(x).spec()), "int64[]");
  EXPECT_EQ(to_string(fill({2, 3}, 1.5).spec()), "float64[2, 3]");
  EXPECT_EQ(to_string(gather(x, param(dtype::int32, {7}), 0).spec()), "float32[7, ?]");
  EXPECT_EQ(to_string(cast<int16_t>(x).spec()), "int16[3, ?]");
  const auto text = param(dtype::string, {});
  EXPECT_EQ(to_string(strings::length(text).spec()), "int32[]");
  EXPECT_EQ(to_string(strings::split(text).spec()), "string[?]");
  EXPECT_EQ(to_string(strings::reduce_join(strings::split(text)).spec()), "string[]");
  EXPECT_EQ(to_string(io::decode_raw<uint16_t>(text).spec()), "uint16[?]");
  EXPECT_EQ(to_string((text + "!").spec()), "string[]");
}

TEST(Build, LiteralsTakeTheOtherOperandsDtype) {
  EXPECT_EQ((param(dtype::uint8, {}) + 1).type(), dtype::uint8);
  EXPECT_EQ((1 - param(dtype::float16, {})).type(), dtype::float16);
  EXPECT_EQ((param(dtype::bfloat16, {}) * 0.5).type(), dtype::bfloat16);
  EXPECT_EQ((param(dtype::complex64, {}) * 2).type(), dtype::complex64);
  EXPECT_EQ(where(param(dtype::boolean, {}), param(dtype::int8, {}), 0).type(), dtype::int8);
  EXPECT_EQ((expr{1} + 2.5).type(), dtype::float64);
  const auto byte = param(dtype::uint8, {});
  EXPECT_EQ(thrown_by([&] { (void)(byte + 256); }),
            "add: literal 256 does not fit the other operand, which is uint8; cast one");
  EXPECT_EQ(thrown_by([&] { (void)(byte * 0.5); }),
            "multiply: literal 0.5 does not fit the other operand, which is uint8; cast one");
  EXPECT_EQ(thrown_by([&] { (void)(byte + "x"); }), "add: operands are string and uint8");
  // A constant that was made explicitly keeps its dtype, unlike a literal.
  EXPECT_EQ(thrown_by([&] { (void)(byte + constant(1)); }),
            "add: operands are uint8[] and int32[]; cast one");
}

TEST(Build, ErrorsNameTheFunctionAndWhatWouldBeRight) {
  const auto f = param(dtype::float32, {3}), i = param(dtype::int64, {3});
  const auto s = param(dtype::string, {}), b = param(dtype::boolean, {});
  const auto message = [](auto&& make) { return thrown_by([&] { (void)make(); }); };
  EXPECT_EQ(message([&] { return f + i; }), "add: operands are float32[3] and int64[3]; cast one");
  EXPECT_EQ(message([&] { return f + param(dtype::float32, {4}); }),
            "add: shapes [3] and [4] do not broadcast; extents must be equal or 1");
  EXPECT_EQ(message([&] { return s * s; }), "multiply: an operand is string[]; it must be numbers");
  EXPECT_EQ(message([&] { return sqrt(i); }),
            "sqrt: an operand is int64[3]; it must be floats; cast integers first");
  EXPECT_EQ(
    message([&] { return f && b; }),
    "logical_and: an operand is float32[3]; it must be bools; compare with something first");
  EXPECT_EQ(message([&] { return where(f, f, f); }),
            "where: the condition is float32[3]; it must be bool");
  EXPECT_EQ(message([&] { return where(b, f, i); }),
            "where: the branches are float32[3] and int64[3]; cast one");
  EXPECT_EQ(message([&] { return reduce_sum(f, {1}); }), "reduce_sum: axis 1 is not in [-1, 1)");
  EXPECT_EQ(message([&] {
              return reduce_sum(param(dtype::int8, {2, 2}), {0, -2});
            }),
            "reduce_sum: axis -2 is named twice");
  EXPECT_EQ(message([&] { return reshape(f, {2}); }), "reshape: 3 values of [3] do not fill [2]");
  EXPECT_EQ(message([&] { return f[3]; }), "index: index 3 is outside of axis 0 of shape [3]");
  EXPECT_EQ(message([&] { return f.slice(0, 2, 0); }),
            "index: a slice's step is 0; it must not be");
  EXPECT_EQ(message([&] {
              return stack({f, param(dtype::float32, {4})});
            }),
            "stack: inputs are [3] and [4]; all must have one shape");
  EXPECT_EQ(message([&] { return transpose(f, {1}); }),
            "transpose: [1] is no permutation of the axes");
  EXPECT_EQ(message([&] { return squeeze(f, {0}); }), "squeeze: axis 0 of [3] has extent 3, not 1");
  EXPECT_EQ(message([&] {
              return squeeze(param(dtype::float32, {1, shape::unknown}));
            }),
            "squeeze: the extents of [1, ?] are not all known; name the axes that go");
  EXPECT_EQ(message([&] { return cast(s, dtype::int8); }),
            "cast: an operand is string[]; it must be numbers or bools; strings have to_number and "
            "as_string");
  EXPECT_EQ(message([&] { return strings::upper(f); }),
            "strings.upper: an operand is float32[3]; it must be strings");
  EXPECT_EQ(message([&] { return argmax(param(dtype::int8, {0})); }),
            "argmax: axis 0 of [0] is empty");
  EXPECT_EQ(message([&] { return gather(f, f); }),
            "gather: the indices are float32[3]; they must be integers");
  EXPECT_EQ(message([&] { return io::parse_example(s, {}); }),
            "parse_example: no features asked for; name at least one");
  EXPECT_EQ(message([&] {
              return io::parse_example(s, {io::fixed_len_feature("a", {2}, dtype::uint8)}).size();
            }),
            "parse_example: feature 'a' is uint8; int64, float32 and string can be read");
}

TEST(Build, WrongOperandsFromADecodedGraphAreErrorsToo) {
  EXPECT_FALSE(make_expr(expr_op::add, {}).ok());
  EXPECT_FALSE(make_expr(expr_op::add, {nullptr, nullptr}).ok());
  EXPECT_FALSE(make_expr(static_cast<expr_op>(9999), {expr{1}.node()}).ok());
  EXPECT_FALSE(make_expr(expr_op::parameter, {}).ok());
  EXPECT_FALSE(make_expr(expr_op::stack, {}).ok());
  expr_attrs attrs;
  attrs.index = 7;
  EXPECT_FALSE(make_expr(expr_op::stack, {expr{1}.node()}, attrs).ok());
  attrs.index = std::numeric_limits<int64_t>::min();
  EXPECT_FALSE(make_expr(expr_op::expand_dims, {expr{1}.node()}, attrs).ok());
  attrs.dims = {int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_FALSE(make_expr(expr_op::fill, {expr{1}.node()}, attrs).ok());
  EXPECT_FALSE(make_expr(expr_op::reshape, {expr{1}.node()}, attrs).ok());
  expr_attrs slices;
  slices.slices = {{.step = std::numeric_limits<int64_t>::min()}};
  EXPECT_TRUE(make_expr(expr_op::index, {constant(std::vector<int>{1, 2}).node()}, slices).ok());
}

} // namespace
} // namespace headrace::detail
