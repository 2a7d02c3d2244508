#include "tests/pipeline/functions/error_cases.hpp"
#include "headrace/pipeline/functions/control.hpp"
#include "headrace/pipeline/functions/debugging.hpp"
#include "headrace/pipeline/functions/lookup.hpp"
#include "headrace/pipeline/functions/math.hpp"
#include "headrace/pipeline/functions/ragged.hpp"

namespace headrace::detail::test {

namespace {

std::vector<error_case> arithmetic() {
  const auto with_text = [](auto f) { return on_one([=](expr x) { return f(x, expr{"a"}); }); };
  const auto of_text = [](auto f) { return on_one([=](expr) { return f(expr{"a"}); }); };
  return {
    {expr_op::add, with_text([](expr x, expr y) { return x + y; }),
     "add: operands are string and int64"},
    {expr_op::subtract, on_one([](expr x) {
       return numbers({1, 2}) - numbers({1, 2, 3}) + x;
     }),
     "subtract: shapes [2] and [3] do not broadcast; extents must be equal or 1"},
    {expr_op::multiply, with_text([](expr x, expr y) { return x * y; }),
     "multiply: operands are string and int64"},
    {expr_op::divide, on(0, [](expr x) { return 1 / x; }), "divide: integer division by zero"},
    {expr_op::floor_divide, on(0, [](expr x) { return floor_div(1, x); }),
     "floor_div: integer division by zero"},
    {expr_op::modulo, on(0, [](expr x) { return 1 % x; }), "modulo: integer division by zero"},
    {expr_op::negate, of_text([](expr x) { return -x; }),
     "negate: an operand is string[]; it must be signed numbers"},
    {expr_op::absolute, of_text([](expr x) { return abs(x); }),
     "abs: an operand is string[]; it must be integers or floats"},
    {expr_op::minimum, with_text([](expr x, expr y) { return minimum(x, y); }),
     "minimum: operands are string and int64"},
    {expr_op::maximum, with_text([](expr x, expr y) { return maximum(x, y); }),
     "maximum: operands are string and int64"},
    {expr_op::power, on(-1, [](expr x) { return pow(expr{int64_t{2}}, x); }),
     "pow: an integer to a negative power; cast to a float first"},
    {expr_op::floor_modulo, on(0, [](expr x) { return floor_mod(1, x); }),
     "floor_mod: integer division by zero"},
    {expr_op::square, of_text([](expr x) { return square(x); }),
     "square: an operand is string[]; it must be numbers"},
    {expr_op::sqrt, on_one([](expr x) { return sqrt(x); }),
     "sqrt: an operand is int64[]; it must be floats; cast integers first"},
    {expr_op::exp, on_one([](expr x) { return exp(x); }),
     "exp: an operand is int64[]; it must be floats; cast integers first"},
    {expr_op::log, on_one([](expr x) { return log(x); }),
     "log: an operand is int64[]; it must be floats; cast integers first"},
    {expr_op::tanh, on_one([](expr x) { return tanh(x); }),
     "tanh: an operand is int64[]; it must be floats; cast integers first"},
    {expr_op::floor, of_text([](expr x) { return floor(x); }),
     "floor: an operand is string[]; it must be floats; cast integers first"},
    {expr_op::ceil, of_text([](expr x) { return ceil(x); }),
     "ceil: an operand is string[]; it must be floats; cast integers first"},
    {expr_op::round, of_text([](expr x) { return round(x); }),
     "round: an operand is string[]; it must be floats; cast integers first"},
    {expr_op::sign, of_text([](expr x) { return sign(x); }),
     "sign: an operand is string[]; it must be integers or floats"},
    {expr_op::sin, on_one([](expr x) { return sin(x); }),
     "sin: an operand is int64[]; it must be floats; cast integers first"},
    {expr_op::cos, on_one([](expr x) { return cos(x); }),
     "cos: an operand is int64[]; it must be floats; cast integers first"},
    {expr_op::is_nan, on_one([](expr x) { return is_nan(x); }),
     "is_nan: an operand is int64[]; it must be floats; cast integers first"},
    {expr_op::equal, with_text([](expr x, expr y) { return x == y; }),
     "equal: operands are string and int64"},
    {expr_op::not_equal, with_text([](expr x, expr y) { return x != y; }),
     "not_equal: operands are string and int64"},
    {expr_op::less, with_text([](expr x, expr y) { return x < y; }),
     "less: operands are string and int64"},
    {expr_op::less_equal, with_text([](expr x, expr y) { return x <= y; }),
     "less_equal: operands are string and int64"},
    {expr_op::greater, with_text([](expr x, expr y) { return x > y; }),
     "greater: operands are string and int64"},
    {expr_op::greater_equal, with_text([](expr x, expr y) { return x >= y; }),
     "greater_equal: operands are string and int64"},
    {expr_op::logical_and, on_one([](expr x) { return x && true; }),
     "logical_and: literal true does not fit the other operand, which is int64; cast one"},
    {expr_op::logical_or, on_one([](expr x) { return x || true; }),
     "logical_or: literal true does not fit the other operand, which is int64; cast one"},
    {expr_op::logical_not, on_one([](expr x) { return !x; }),
     "logical_not: an operand is int64[]; it must be bools; compare with something first"},
    {expr_op::bit_and, on_one([](expr) { return reals() & reals(); }),
     "bit_and: an operand is float32[2]; it must be integers or bools"},
    {expr_op::bit_or, on_one([](expr) { return reals() | reals(); }),
     "bit_or: an operand is float32[2]; it must be integers or bools"},
    {expr_op::bit_xor, on_one([](expr) { return reals() ^ reals(); }),
     "bit_xor: an operand is float32[2]; it must be integers or bools"},
    {expr_op::shift_left, on_one([](expr) { return reals() << reals(); }),
     "shift_left: an operand is float32[2]; it must be integers"},
    {expr_op::shift_right, on_one([](expr) { return reals() >> reals(); }),
     "shift_right: an operand is float32[2]; it must be integers"},
    {expr_op::where, on_one([](expr x) { return where(x, 1, 2); }),
     "where: the condition is int64[]; it must be bool"},
    {expr_op::cast, on(300, [](expr x) { return cast<uint8_t>(x); }),
     "cast: 300 does not fit uint8"},
    {expr_op::reduce_sum, on_one([](expr x) { return reduce_sum(x + numbers({1}), {1}); }),
     "reduce_sum: axis 1 is not in [-1, 1)"},
    {expr_op::reduce_mean, on_one([](expr x) { return reduce_mean(x); }),
     "reduce_mean: an operand is int64[]; it must be floats or complex numbers; cast integers "
     "first"},
    {expr_op::reduce_max, of_text([](expr x) { return reduce_max(x); }),
     "reduce_max: an operand is string[]; it must be integers or floats"},
    {expr_op::reduce_min, of_text([](expr x) { return reduce_min(x); }),
     "reduce_min: an operand is string[]; it must be integers or floats"},
    {expr_op::reduce_prod, of_text([](expr x) { return reduce_prod(x); }),
     "reduce_prod: an operand is string[]; it must be numbers"},
    {expr_op::reduce_all, on_one([](expr x) { return reduce_all(x); }),
     "reduce_all: an operand is int64[]; it must be bools; compare with something first"},
    {expr_op::reduce_any, on_one([](expr x) { return reduce_any(x); }),
     "reduce_any: an operand is int64[]; it must be bools; compare with something first"},
    {expr_op::argmax, on_one([](expr x) { return argmax(x); }),
     "argmax: a scalar has no axis to search along"},
    {expr_op::argmin, on_one([](expr) { return argmin(numbers({})); }),
     "argmin: axis 0 of [0] is empty"},
  };
}

std::vector<error_case> movements() {
  return {
    {expr_op::constant, on_one([](expr) { return constant(std::vector<float>{1}, shape{2}); }),
     "constant: 1 values do not fill shape [2]"},
    {expr_op::reshape, on_one([](expr x) {
       return reshape(x + numbers({1, 2}), {3});
     }),
     "reshape: 2 values of [2] do not fill [3]"},
    {expr_op::index, on_one([](expr x) {
       return (x + numbers({1, 2}))[2];
     }),
     "index: index 2 is outside of axis 0 of shape [2]"},
    {expr_op::stack, on_one([](expr x) {
       return stack({x, numbers({1})});
     }),
     "stack: inputs are [] and [1]; all must have one shape"},
    {expr_op::concat, on_one([](expr x) {
       return concat({x, x}, 0);
     }),
     "concat: axis 0 is not in [0, 0)"},
    {expr_op::transpose, on_one([](expr) {
       return transpose(matrix(), {0, 0});
     }),
     "transpose: [0, 0] is no permutation of the axes"},
    {expr_op::expand_dims, on_one([](expr x) { return expand_dims(x, 2); }),
     "expand_dims: axis 2 is not in [-1, 1)"},
    {expr_op::squeeze, on_one([](expr) { return squeeze(matrix(), {1}); }),
     "squeeze: axis 1 of [2, 2] has extent 2, not 1"},
    {expr_op::fill, on_one([](expr) {
       return fill({2}, numbers({1, 2}));
     }),
     "fill: the value has shape [2]; a scalar is needed"},
    {expr_op::gather,
     on(2,
        [](expr x) {
          return gather(numbers({1, 2}), x);
        }),
     "gather: index 2 is not in [0, 2)"},
    {expr_op::tile, on_one([](expr) { return tile(matrix(), {2}); }),
     "tile: 1 numbers of times for an input of shape [2, 2]; one an axis"},
    {expr_op::pad, on_one([](expr) {
       return pad(numbers({1, 2}), {{2, 0}}, pad_mode::reflect);
     }),
     "pad: axis 0 of [2] is mirrored by 2 and 0; at most 1 is there"},
    {expr_op::roll, on_one([](expr) { return roll(matrix(), {1}, {2}); }),
     "roll: axis 2 is not in [-2, 2)"},
    {expr_op::one_hot, on_one([](expr x) { return one_hot(x, -1); }),
     "one_hot: depth must be in [0, 1073741824]"},
    {expr_op::sort, on_one([](expr) { return sort(expr{"a"}); }),
     "sort: the values are string[]; they must be integers or floats"},
    {expr_op::argsort, on_one([](expr x) { return argsort(x); }),
     "argsort: a scalar has no axis to sort along"},
    {expr_op::cumsum, on_one([](expr x) { return cumsum(x, 0); }),
     "cumsum: a scalar has no axis to go along"},
    {expr_op::cumprod, on_one([](expr) { return math::cumprod(matrix(), 2); }),
     "math.cumprod: axis 2 is not in [-2, 2)"},
    {expr_op::matmul, on_one([](expr) {
       return matmul(matrix(), reshape(numbers({1, 2, 3}), {3, 1}));
     }),
     "matmul: shapes [2, 2] and [3, 1] do not fit: 2 columns and 3 rows"},
    {expr_op::ensure_shape, on_one([](expr) {
       return ensure_shape(matrix(), {3, 2});
     }),
     "ensure_shape: the shape is [2, 2]; [3, 2] is needed"},
    {expr_op::check, on(-5, [](expr x) { return debugging::assert_positive(x, "of me"); }),
     "debugging.assert_positive: of me: x = -5"},
    {expr_op::check_numerics,
     on(0, [](expr x) { return debugging::check_numerics(1.0f / cast<float>(x), "quotient"); }),
     "debugging.check_numerics: quotient: the tensor has Inf values"},
    {expr_op::cond, on_one([](expr x) {
       return cond(
         x, [&] { return x; }, [&] { return x; });
     }),
     "cond: the condition is int64[]; it must be a bool scalar"},
    {expr_op::while_loop, on_one([](expr x) {
       return while_loop([](expr y) { return y; }, [](expr y) { return y; }, x);
     }),
     "while_loop: the condition is int64[]; it must be a bool scalar"},
    {expr_op::loop_variable, on_one([](expr x) {
       auto leaked = x;
       while_loop(
         [&](expr y) {
           leaked = y;
           return y > 0;
         },
         [](expr y) { return y - 1; }, x);
       return leaked;
     }),
     "a variable of a loop, or what is computed from it, is used outside of the loop"},
    {expr_op::slice_at, on_one([](expr x) {
       return slice(numbers({1, 2}), reshape(x, {1}), std::vector<int64_t>{2});
     }),
     "slice: 2 values from 1 on along axis 0 of [2]"},
    {expr_op::decode_raw, on_one([](expr) { return io::decode_raw<int32_t>("abc"); }),
     "decode_raw: a string of 3 bytes does not hold int32 values, which take 4 each"},
    {expr_op::lookup, on_one([](expr x) { return lookup::vocabulary_table({"a"}).lookup(x); }),
     "lookup.table: keys are int64[]; the table's are string"},
    {expr_op::ragged_to_tensor, on_one([](expr x) {
       return ragged{numbers({1, 2}), reshape(x, {1})}.to_tensor();
     }),
     "ragged.to_tensor: the row lengths add up to 1; there are 2 values"},
  };
}

} // namespace

std::vector<error_case> errors_of_numbers() {
  auto out = arithmetic();
  const auto more = movements();
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

} // namespace headrace::detail::test
