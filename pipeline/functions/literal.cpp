#include "headrace/pipeline/functions/literal.hpp"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace headrace::detail {

namespace {

template <class T>
inline constexpr bool is_small_float = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
template <class T>
inline constexpr bool is_float = std::is_floating_point_v<T> || is_small_float<T>;
template <class T>
inline constexpr bool is_int = std::is_integral_v<T> && !std::is_same_v<T, bool>;

template <class T>
T to_float(double value) {
  if constexpr (is_small_float<T>)
    return T{static_cast<float>(value)};
  else
    return static_cast<T>(value);
}

/// `value` converted to `To`; nullopt if literals of type `From` must not be converted to `To`, or
/// if `value` does not fit.
template <class To, class From>
std::optional<To> fit(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (is_int<To> && is_int<From>) {
    if (std::in_range<To>(value))
      return static_cast<To>(value);
  } else if constexpr (is_float<To> && (is_int<From> || is_float<From>)) {
    const auto wide = static_cast<double>(value);
    const auto narrow = to_float<To>(wide);
    if (std::isfinite(static_cast<double>(narrow)) || !std::isfinite(wide))
      return narrow;
  } else if constexpr (is_complex(dtype_of<To>) && (is_int<From> || is_float<From>)) {
    return To(static_cast<typename To::value_type>(static_cast<double>(value)));
  }
  return std::nullopt;
}

template <class T>
std::string print(T value) {
  if constexpr (is_small_float<T>) {
    return print(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    auto out = fmt::format("{}", value);
    // A float without a fraction is printed with ".0", as in Python.
    return out.find_first_not_of("-0123456789") == std::string::npos ? out + ".0" : out;
  } else if constexpr (std::is_arithmetic_v<T>) {
    return fmt::format("{}", value);
  } else {
    return "complex";
  }
}

} // namespace

result<expr_ptr> adapt_literal(std::string_view function, const expr& literal, dtype type) {
  if (literal.type() == type)
    return literal.node();
  const auto& value = literal.node()->attrs.value;
  if (literal.type() == dtype::string || type == dtype::string)
    return invalid_argument(fmt::format("{}: operands are {} and {}", function,
                                        to_string(literal.type()), to_string(type)));
  return visit_plain(literal.type(), [&]<class From>(From) {
    const auto from = value.values<From>()[0];
    return visit_plain(type, [&]<class To>(To) -> result<expr_ptr> {
      if (auto to = fit<To>(from))
        return make_constant(column::of_scalars(std::span<const To>{&*to, 1}));
      return invalid_argument(fmt::format("{}: literal {} does not fit the other operand, which is "
                                          "{}; cast one",
                                          function, print(from), to_string(type)));
    });
  });
}

namespace {

/// The common dtype, `a` or `b`, of C++ literals of these dtypes. A complex dtype takes precedence
/// over a float, and a float over an integer. Of two dtypes of one kind, the wider one is returned;
/// of two integer dtypes of one width, the unsigned one.
dtype wider(dtype a, dtype b) {
  const auto rank = [](dtype t) {
    return (is_complex(t)    ? 300
            : is_floating(t) ? 200
            : is_integer(t)  ? 100
                             : 0)
           + static_cast<int>(size_of(t)) * 2 + (is_unsigned_integer(t) ? 1 : 0);
  };
  return rank(a) < rank(b) ? b : a;
}

} // namespace

std::vector<expr_ptr> same_type(std::string_view function, std::vector<expr> operands) {
  std::optional<dtype> type;
  for (const auto& x : operands)
    if (!x.is_literal() && !type)
      type = x.type();
  if (!type)
    for (const auto& x : operands) type = type ? wider(*type, x.type()) : x.type();
  std::vector<expr_ptr> out;
  for (const auto& x : operands)
    out.push_back(x.is_literal() ? adapt_literal(function, x, *type).value() : x.node());
  return out;
}

expr apply(expr_op op, std::vector<expr_ptr> inputs, expr_attrs attrs, dtype type,
           std::string_view function) {
  return expr{make_expr(op, std::move(inputs), std::move(attrs), type, function).value()};
}

} // namespace headrace::detail
