#pragma once

#include "tests/pipeline/functions/support.hpp"

#include <functional>

/// The error messages of functions: when they are traced with unsuitable values, or when a row
/// fails.
namespace headrace::detail::test {

using function_of = std::function<expr(expr)>;

struct error_case {
  expr_op op;
  std::function<std::string()> text;
  std::string expected;
};

/// The error of `f` applied to one row, an int64 scalar of the value `x`: the message of the thrown
/// error, or the message of the error row.
inline std::string of_number(int64_t x, const function_of& f) {
  std::string failed;
  const auto thrown = thrown_by([&] {
    const auto out = apply({scalars<int64_t>({x})}, f);
    failed = out.errors.empty() ? "no error" : out.errors[0].why.message();
  });
  return thrown.empty() ? failed : thrown;
}
inline auto on(int64_t x, function_of f) {
  return [=] { return of_number(x, f); };
}
inline auto on_one(function_of f) { return on(1, std::move(f)); }

inline expr reals() { return constant(std::vector<float>{1, 2}); }
inline expr matrix() { return constant(std::vector<int64_t>{1, 2, 3, 4}, shape{2, 2}); }
inline expr pixels() { return constant(std::vector<uint8_t>(12, 7), shape{2, 2, 3}); }

/// The error cases of functions that compute with numbers, and of functions that move values.
std::vector<error_case> errors_of_numbers();

} // namespace headrace::detail::test
