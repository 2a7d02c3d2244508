#include "headrace/pipeline/functions/debugging.hpp"

#include "headrace/pipeline/functions/assertions.hpp"
#include "headrace/pipeline/functions/literal.hpp"
#include "headrace/pipeline/functions/math.hpp"

#include <fmt/format.h>

namespace headrace::debugging {
using namespace detail;

namespace {

expr noted(expr assertion) {
  if (auto* scope = detail::assertion_scope::current())
    scope->add(assertion);
  return assertion;
}

struct shown {
  const char* name;
  expr value;
};

expr check(const char* name, const expr& x, const expr& condition, const std::string& message,
           const std::vector<shown>& values) {
  expr_attrs attrs;
  attrs.text = message;
  attrs.texts.push_back(fmt::format("debugging.{}", name));
  std::vector<expr_ptr> inputs{x.node(), condition.node()};
  for (const auto& value : values) {
    attrs.texts.emplace_back(value.name);
    inputs.push_back(value.value.node());
  }
  return noted(detail::apply(expr_op::check, std::move(inputs), std::move(attrs)));
}

using compare_fn = expr (*)(const expr&, const expr&);

expr compared(const char* name, const char* sign, compare_fn compare, const expr& x, const expr& y,
              const std::string& message) {
  const auto both = detail::same_type(fmt::format("debugging.{}", name), {x, y});
  const expr a{both[0]}, b{both[1]};
  return check(name, a, compare(a, b), message.empty() ? fmt::format("x {} y", sign) : message,
               {{"x", a}, {"y", b}});
}

/// Asserts that `compare(x, 0)` is true. `what` replaces an empty `message`.
expr signed_as(const char* name, const char* what, compare_fn compare, const expr& x,
               const std::string& message) {
  return check(name, x, compare(x, expr{0}), message.empty() ? what : message, {{"x", x}});
}

/// The distance from 1 to the next larger number of a floating dtype.
double step_at_one(dtype type) {
  switch (type) {
  case dtype::float16: return 0x1p-10;
  case dtype::bfloat16: return 0x1p-7;
  case dtype::float32: return 0x1p-23;
  default: return 0x1p-52;
  }
}

[[noreturn]] void fail(const char* name, const std::string& what, const std::string& message) {
  throw error{invalid_argument(
    fmt::format("debugging.{}: {}{}{}", name, message, message.empty() ? "" : ": ", what))};
}

} // namespace

expr Assert(const expr& x, const expr& condition, const std::string& message) {
  return check("Assert", x, condition, message, {{"x", x}});
}

expr assert_equal(const expr& x, const expr& y, const std::string& message) {
  return compared("assert_equal", "==", operator==, x, y, message);
}
expr assert_none_equal(const expr& x, const expr& y, const std::string& message) {
  return compared("assert_none_equal", "!=", operator!=, x, y, message);
}
expr assert_less(const expr& x, const expr& y, const std::string& message) {
  return compared("assert_less", "<", operator<, x, y, message);
}
expr assert_less_equal(const expr& x, const expr& y, const std::string& message) {
  return compared("assert_less_equal", "<=", operator<=, x, y, message);
}
expr assert_greater(const expr& x, const expr& y, const std::string& message) {
  return compared("assert_greater", ">", operator>, x, y, message);
}
expr assert_greater_equal(const expr& x, const expr& y, const std::string& message) {
  return compared("assert_greater_equal", ">=", operator>=, x, y, message);
}
expr assert_near(const expr& x, const expr& y, std::optional<double> relative,
                 std::optional<double> absolute, const std::string& message) {
  const auto both = detail::same_type("debugging.assert_near", {x, y});
  const expr a{both[0]}, b{both[1]};
  const auto usual = 10 * step_at_one(a.type());
  return check("assert_near", a,
               abs(a - b) < abs(b) * relative.value_or(usual) + absolute.value_or(usual),
               message.empty() ? "x is near y" : message, {{"x", a}, {"y", b}});
}
expr assert_positive(const expr& x, const std::string& message) {
  return signed_as("assert_positive", "x > 0", operator>, x, message);
}
expr assert_negative(const expr& x, const std::string& message) {
  return signed_as("assert_negative", "x < 0", operator<, x, message);
}
expr assert_non_negative(const expr& x, const std::string& message) {
  return signed_as("assert_non_negative", "x >= 0", operator>=, x, message);
}
expr assert_non_positive(const expr& x, const std::string& message) {
  return signed_as("assert_non_positive", "x <= 0", operator<=, x, message);
}

expr check_numerics(const expr& x, const std::string& message) {
  expr_attrs attrs;
  attrs.text = message;
  return noted(detail::apply(expr_op::check_numerics, {x.node()}, std::move(attrs)));
}
expr assert_all_finite(const expr& x, const std::string& message) {
  return check_numerics(x, message.empty() ? "all values are finite" : message);
}

expr assert_type(const expr& x, dtype type, const std::string& message) {
  if (x.type() != type)
    fail("assert_type",
         fmt::format("the tensor is {}; {} is needed", to_string(x.spec()), to_string(type)),
         message);
  return x;
}
expr assert_integer(const expr& x, const std::string& message) {
  if (!is_integer(x.type()))
    fail("assert_integer",
         fmt::format("the tensor is {}; integers are needed", to_string(x.spec())), message);
  return x;
}
expr assert_scalar(const expr& x, const std::string& message) { return assert_rank(x, 0, message); }
expr assert_rank(const expr& x, size_t rank, const std::string& message) {
  if (x.dims().has_rank() && x.dims().rank() != rank)
    fail("assert_rank",
         fmt::format("the tensor is {}; rank {} is needed", to_string(x.spec()), rank), message);
  auto out = ensure_shape(x, shape{std::vector<int64_t>(rank, shape::unknown)});
  return x.dims().has_rank() ? out : noted(std::move(out));
}

} // namespace headrace::debugging
