#pragma once

#include "headrace/pipeline/functions/expr.hpp"

#include <optional>

/// Assertions. Each returns its first argument. For an element that violates the assertion, the
/// result is an error of the row, which contains `message` and the first values of the arguments.
/// In a traced function an assertion is checked even if its result is not used.
namespace headrace::debugging {

/// `x`, if all bools in `condition` are true.
expr Assert(const expr& x, const expr& condition, const std::string& message = "");

/// Compares `x` and `y` value by value; their shapes broadcast.
expr assert_equal(const expr& x, const expr& y, const std::string& message = "");
expr assert_none_equal(const expr& x, const expr& y, const std::string& message = "");
expr assert_less(const expr& x, const expr& y, const std::string& message = "");
expr assert_less_equal(const expr& x, const expr& y, const std::string& message = "");
expr assert_greater(const expr& x, const expr& y, const std::string& message = "");
expr assert_greater_equal(const expr& x, const expr& y, const std::string& message = "");
/// Asserts of floats that `|x - y| < absolute + relative * |y|`. By default both tolerances are ten
/// times the distance from 1 to the next larger number of the dtype.
expr assert_near(const expr& x, const expr& y, std::optional<double> relative = {},
                 std::optional<double> absolute = {}, const std::string& message = "");
expr assert_positive(const expr& x, const std::string& message = "");
expr assert_negative(const expr& x, const std::string& message = "");
expr assert_non_negative(const expr& x, const std::string& message = "");
expr assert_non_positive(const expr& x, const std::string& message = "");

/// Asserts that the floats in `x` are neither NaN nor infinite. `message` is part of the error.
expr check_numerics(const expr& x, const std::string& message);
expr assert_all_finite(const expr& x, const std::string& message = "");

/// `assert_type` throws `error` if the dtype of `x` is not `type`, `assert_integer` if it is not an
/// integer dtype. Both check this while the function is traced.
expr assert_type(const expr& x, dtype type, const std::string& message = "");
expr assert_integer(const expr& x, const std::string& message = "");
/// `assert_rank` with rank 0.
expr assert_scalar(const expr& x, const std::string& message = "");
/// Throws `error` if the rank of `x` is known and differs from `rank`. If the rank is not known,
/// another rank is an error of the row.
expr assert_rank(const expr& x, size_t rank, const std::string& message = "");

} // namespace headrace::debugging
