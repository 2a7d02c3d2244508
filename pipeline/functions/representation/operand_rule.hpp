#pragma once

#include "headrace/pipeline/functions/representation/library.hpp"
#include "headrace/pipeline/functions/representation/shapes.hpp"

/// The checks of functions whose operands are all of one kind.
namespace headrace::detail {

/// A kind of operands, and its name in messages.
struct operand_kind {
  bool (*accepts)(dtype);
  const char* words;
};
namespace kinds {
constexpr bool is_real(dtype t) { return is_integer(t) || is_floating(t); }
constexpr bool is_number(dtype t) { return is_real(t) || is_complex(t); }

inline constexpr operand_kind any{[](dtype) { return true; }, "of any dtype"};
inline constexpr operand_kind real{is_real, "integers or floats"};
inline constexpr operand_kind number{is_number, "numbers"};
inline constexpr operand_kind signed_number{
  [](dtype t) { return is_number(t) && !is_unsigned_integer(t); }, "signed numbers"};
inline constexpr operand_kind floating{[](dtype t) { return is_floating(t); },
                                       "floats; cast integers first"};
inline constexpr operand_kind float_number{[](dtype t) { return is_floating(t) || is_complex(t); },
                                           "floats or complex numbers; cast integers first"};
inline constexpr operand_kind integer{[](dtype t) { return is_integer(t); }, "integers"};
inline constexpr operand_kind bits{[](dtype t) { return is_integer(t) || t == dtype::boolean; },
                                   "integers or bools"};
inline constexpr operand_kind boolean{[](dtype t) { return t == dtype::boolean; },
                                      "bools; compare with something first"};
inline constexpr operand_kind ordered{[](dtype t) { return is_real(t) || t == dtype::string; },
                                      "integers, floats or strings"};
inline constexpr operand_kind text{[](dtype t) { return t == dtype::string; }, "strings"};
inline constexpr operand_kind castable{[](dtype t) { return t != dtype::string; },
                                       "numbers or bools; strings have to_number and as_string"};
inline constexpr operand_kind printable{[](dtype t) { return is_real(t) || t == dtype::boolean; },
                                        "integers, floats or bools"};
} // namespace kinds

/// The dtype of a result: the dtype of the first or second operand, the requested dtype, or always
/// the same dtype.
enum class gives : uint8_t { first, second, asked, boolean, int32, int64, string };

struct operand_rule {
  operand_kind takes;
  shape_rule dims = shape_rules::broadcast_all;
  gives type = gives::first;
  bool one_type = true; ///< all operands must have one dtype
  /// A further check of the operands; null: there is none.
  status (*check)(const library_operands& in) = nullptr;
};

/// Infers the spec of a function's result by a rule. Errors do not contain the function's name.
result<tensor_spec> infer_by(const operand_rule& rule, const library_operands& in);
/// A `library_function::infer` that applies `Rule`.
template <const operand_rule& Rule>
result<tensor_spec> infer_by(const library_operands& in) {
  return infer_by(Rule, in);
}

/// A `shape_rule` that applies `Of` to the shape of the first operand.
template <result<shape> (*Of)(const expr_attrs&, const shape&)>
result<shape> of_first(const expr_attrs& attrs, std::span<const shape> in) {
  return Of(attrs, in[0]);
}

} // namespace headrace::detail
