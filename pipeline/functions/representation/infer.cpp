#include "headrace/pipeline/functions/representation/infer.hpp"

#include "headrace/pipeline/functions/representation/library.hpp"
#include "headrace/pipeline/functions/representation/shapes.hpp"

#include <fmt/format.h>

namespace headrace {

tensor_spec spec_of(const feature_spec& feature) {
  const auto unknown = shape::unknown;
  if (feature.size > 0)
    return {feature.type, {feature.size}};
  if (!feature.index_name.empty() || (feature.variable && feature.in_lists))
    return {feature.type, {unknown, unknown}};
  if (feature.variable)
    return {feature.type, {unknown}};
  return {feature.type, feature.sequence ? feature.dims.with_leading(unknown) : feature.dims};
}

} // namespace headrace

namespace headrace::detail {

namespace {

using operands = std::vector<expr_ptr>;

bool is_real(dtype t) { return is_integer(t) || is_floating(t); }
bool is_number(dtype t) { return is_real(t) || is_complex(t); }
bool is_ordered(dtype t) { return is_real(t) || t == dtype::string; }
bool is_bits(dtype t) { return is_integer(t) || t == dtype::boolean; }
bool is_bool(dtype t) { return t == dtype::boolean; }
bool is_text(dtype t) { return t == dtype::string; }
bool is_any(dtype) { return true; }
bool is_signed_number(dtype t) { return is_number(t) && !is_unsigned_integer(t); }
bool is_castable(dtype t) { return t != dtype::string; }
bool is_float_number(dtype t) { return is_floating(t) || is_complex(t); }

/// A kind of operands, and its name in messages.
struct kind {
  bool (*accepts)(dtype);
  const char* words;
};
constexpr kind real{is_real, "integers or floats"};
constexpr kind number{is_number, "numbers"};
constexpr kind signed_number{is_signed_number, "signed numbers"};
constexpr kind floating{is_floating, "floats; cast integers first"};
constexpr kind float_number{is_float_number, "floats or complex numbers; cast integers first"};
constexpr kind integer{is_integer, "integers"};
constexpr kind bits{is_bits, "integers or bools"};
constexpr kind boolean{is_bool, "bools; compare with something first"};
constexpr kind ordered{is_ordered, "integers, floats or strings"};
constexpr kind text{is_text, "strings"};
constexpr kind castable{is_castable, "numbers or bools; strings have to_number and as_string"};
constexpr kind printable{[](dtype t) { return is_real(t) || is_bool(t); },
                         "integers, floats or bools"};
constexpr kind any{is_any, "of any dtype"};

/// The operands of an op: how many (0: one or more), and of which kind.
struct rule {
  size_t operands;
  kind takes;
};

rule rule_of(expr_op op) {
  switch (op) {
  case expr_op::add:
  case expr_op::subtract:
  case expr_op::multiply: return {2, number};
  case expr_op::divide:
  case expr_op::floor_divide:
  case expr_op::modulo:
  case expr_op::floor_modulo:
  case expr_op::minimum:
  case expr_op::maximum:
  case expr_op::power: return {2, real};
  case expr_op::negate: return {1, signed_number};
  case expr_op::absolute:
  case expr_op::sign: return {1, real};
  case expr_op::square: return {1, number};
  case expr_op::sqrt:
  case expr_op::exp:
  case expr_op::log:
  case expr_op::tanh:
  case expr_op::sin:
  case expr_op::cos:
  case expr_op::floor:
  case expr_op::ceil:
  case expr_op::round:
  case expr_op::is_nan: return {1, floating};
  case expr_op::equal:
  case expr_op::not_equal: return {2, any};
  case expr_op::less:
  case expr_op::less_equal:
  case expr_op::greater:
  case expr_op::greater_equal: return {2, ordered};
  case expr_op::logical_and:
  case expr_op::logical_or: return {2, boolean};
  case expr_op::logical_not: return {1, boolean};
  case expr_op::bit_and:
  case expr_op::bit_or:
  case expr_op::bit_xor: return {2, bits};
  case expr_op::shift_left:
  case expr_op::shift_right: return {2, integer};
  case expr_op::where: return {3, any};
  case expr_op::cast: return {1, castable};
  case expr_op::reduce_sum:
  case expr_op::reduce_prod: return {1, number};
  case expr_op::reduce_mean: return {1, float_number};
  case expr_op::reduce_max:
  case expr_op::reduce_min:
  case expr_op::argmax:
  case expr_op::argmin: return {1, real};
  case expr_op::reduce_all:
  case expr_op::reduce_any: return {1, boolean};
  case expr_op::reshape:
  case expr_op::index:
  case expr_op::transpose:
  case expr_op::expand_dims:
  case expr_op::squeeze:
  case expr_op::shape_of:
  case expr_op::size:
  case expr_op::fill: return {1, any};
  case expr_op::stack:
  case expr_op::concat: return {0, any};
  case expr_op::gather: return {2, any};
  case expr_op::string_length:
  case expr_op::string_upper:
  case expr_op::string_lower:
  case expr_op::string_strip:
  case expr_op::string_split:
  case expr_op::string_reduce_join:
  case expr_op::to_number:
  case expr_op::decode_raw:
  case expr_op::parse_example:
  case expr_op::parse_sequence_example: return {1, text};
  case expr_op::string_join: return {0, text};
  case expr_op::as_string: return {1, printable};
  case expr_op::tile:
  case expr_op::roll: return {1, any};
  case expr_op::pad: return {2, any};
  default: break;
  }
  return {1, {nullptr, nullptr}};
}

/// True if all operands must have one dtype.
bool wants_same(expr_op op) {
  return op != expr_op::where && op != expr_op::gather && op != expr_op::string_join;
}

status check_operands(expr_op op, const operands& in) {
  const auto [count, takes] = rule_of(op);
  if (!takes.accepts)
    return invalid_argument("not a function of operands");
  if (count == 0 ? in.empty() : in.size() != count)
    return invalid_argument(fmt::format("{} operands given; {} needed", in.size(),
                                        count == 0 ? "one or more" : std::to_string(count)));
  for (const auto& x : in)
    if (!takes.accepts(x->spec.type))
      return invalid_argument(
        fmt::format("an operand is {}; it must be {}", to_string(x->spec), takes.words));
  if (wants_same(op))
    for (const auto& x : in)
      if (x->spec.type != in[0]->spec.type)
        return invalid_argument(fmt::format("operands are {} and {}; cast one",
                                            to_string(in[0]->spec), to_string(x->spec)));
  return {};
}

status check_special(expr_op op, const operands& in, dtype type) {
  const auto from = in[0]->spec.type;
  switch (op) {
  case expr_op::where:
    if (from != dtype::boolean)
      return invalid_argument(
        fmt::format("the condition is {}; it must be bool", to_string(in[0]->spec)));
    if (in[1]->spec.type != in[2]->spec.type)
      return invalid_argument(fmt::format("the branches are {} and {}; cast one",
                                          to_string(in[1]->spec), to_string(in[2]->spec)));
    break;
  case expr_op::gather:
    if (!is_integer(in[1]->spec.type))
      return invalid_argument(
        fmt::format("the indices are {}; they must be integers", to_string(in[1]->spec)));
    break;
  case expr_op::cast:
    if (type == dtype::string)
      return invalid_argument("strings are made by strings.as_string");
    if (is_complex(from) && !is_complex(type))
      return invalid_argument(fmt::format("{} does not become {}: the imaginary part would be lost",
                                          to_string(from), to_string(type)));
    break;
  case expr_op::to_number:
    if (!is_real(type))
      return invalid_argument(
        fmt::format("cannot read {}; integers and floats can be", to_string(type)));
    break;
  case expr_op::decode_raw:
    if (type == dtype::string || type == dtype::boolean)
      return invalid_argument(
        fmt::format("cannot decode to {}; numbers can be decoded", to_string(type)));
    break;
  default: break;
  }
  return {};
}

dtype result_type(expr_op op, const operands& in, dtype type) {
  if (op >= expr_op::equal && op <= expr_op::greater_equal)
    return dtype::boolean;
  switch (op) {
  case expr_op::is_nan: return dtype::boolean;
  case expr_op::where: return in[1]->spec.type;
  case expr_op::cast:
  case expr_op::to_number:
  case expr_op::decode_raw: return type;
  case expr_op::argmax:
  case expr_op::argmin:
  case expr_op::shape_of:
  case expr_op::size: return dtype::int64;
  case expr_op::string_length: return dtype::int32;
  case expr_op::as_string: return dtype::string;
  default: return in[0]->spec.type;
  }
}

status check_feature(const feature_spec& x) {
  if (x.type != dtype::int64 && x.type != dtype::float32 && x.type != dtype::string)
    return invalid_argument(fmt::format("feature '{}' is {}; int64, float32 and string can be read",
                                        x.name, to_string(x.type)));
  if (x.size < 0 || x.size > (int64_t{1} << 30))
    return invalid_argument(fmt::format("feature '{}' has {} places", x.name, x.size));
  if (!x.index_name.empty() && (x.in_lists || x.sequence || !x.dims.is_scalar()))
    return invalid_argument(fmt::format(
      "feature '{}' has its places in '{}': it is a list of scalars", x.name, x.index_name));
  if (x.size > 0 && x.index_name.empty())
    return invalid_argument(fmt::format("feature '{}' is sparse: its places are needed", x.name));
  if (x.in_lists && !x.sequence && !x.variable)
    return invalid_argument(
      fmt::format("feature '{}' is a list: it has steps of a shape, or of any length", x.name));
  if (x.variable && !x.dims.is_scalar())
    return invalid_argument(fmt::format("feature '{}' has any number of values, and a shape {}",
                                        x.name, to_string(x.dims)));
  if (!x.dims.is_static())
    return invalid_argument(fmt::format("feature '{}' has shape {}; its extents must be known, or "
                                        "use var_len_feature",
                                        x.name, to_string(x.dims)));
  for (auto dim : x.dims.dims())
    if (dim < 0 || dim > (int64_t{1} << 32))
      return invalid_argument(fmt::format("feature '{}' has shape {}", x.name, to_string(x.dims)));
  if (!x.has_default)
    return {};
  const auto& value = x.default_value;
  const auto wanted = x.sequence ? shape{} : x.dims; // fills steps
  if (value.rows() != 1 || value.type() != x.type || value.shape_of(0) != wanted)
    return invalid_argument(fmt::format("the default of feature '{}' is not one {}", x.name,
                                        to_string(tensor_spec{x.type, wanted})));
  return {};
}

result<tensor_spec> infer_parse(expr_op op, const operands& in, const expr_attrs& attrs) {
  const auto& given = in[0]->spec.dims;
  const bool several = op == expr_op::parse_example && given.has_rank() && given.rank() == 1;
  if (given.has_rank() && !given.is_scalar() && !several)
    return invalid_argument(fmt::format("the serialized example has shape {}; a scalar is needed{}",
                                        to_string(given),
                                        op == expr_op::parse_example ? ", or a vector" : ""));
  if (attrs.index < 0 || attrs.index >= static_cast<int64_t>(attrs.features.size()))
    return invalid_argument(
      fmt::format("component {} of {} features", attrs.index, attrs.features.size()));
  for (size_t i = 0; i < attrs.features.size(); ++i) {
    HEADRACE_TRY(check_feature(attrs.features[i]));
    if (attrs.features[i].in_lists && op == expr_op::parse_example)
      return invalid_argument(fmt::format("feature '{}' is one of the lists of a sequence example",
                                          attrs.features[i].name));
    if (several && !attrs.features[i].index_name.empty() && attrs.features[i].size == 0)
      return invalid_argument(fmt::format("feature '{}' has rows of different lengths: it is read "
                                          "from one example at a time",
                                          attrs.features[i].name));
    for (size_t j = 0; j < i; ++j)
      if (attrs.features[j].name == attrs.features[i].name
          && attrs.features[j].in_lists == attrs.features[i].in_lists)
        return invalid_argument(fmt::format("feature '{}' is named twice", attrs.features[i].name));
  }
  auto out = spec_of(attrs.features[static_cast<size_t>(attrs.index)]);
  if (several)
    out.dims = out.dims.with_leading(given[0]);
  return out;
}

} // namespace

result<tensor_spec> infer(expr_op op, const operands& in, const expr_attrs& attrs, dtype type) {
  if (const auto* function = find_library_function(op))
    return infer_library(*function, in, attrs, type);
  HEADRACE_TRY(check_operands(op, in));
  HEADRACE_TRY(check_special(op, in, type));
  if (op == expr_op::parse_example || op == expr_op::parse_sequence_example)
    return infer_parse(op, in, attrs);
  std::vector<shape> shapes;
  for (const auto& x : in) shapes.push_back(x->spec.dims);
  HEADRACE_ASSIGN(auto dims, result_shape(op, attrs, shapes));
  return tensor_spec{result_type(op, in, type), std::move(dims)};
}

} // namespace headrace::detail
