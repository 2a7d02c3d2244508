#pragma once

#include "headrace/pipeline/functions/expr.hpp"

#include <optional>

/// Assertions. Each returns its first argument; if an element violates the assertion, this is an
/// error of the row, with `message` and the first values. In a traced function an assertion is
/// checked even if its result is not used.
namespace headrace::debugging {

/// `x` if all of the bools in `condition` hold.
expr Assert(const expr& x, const expr& condition, const std::string& message = "");

/// Element by element; shapes broadcast.
expr assert_equal(const expr& x, const expr& y, const std::string& message = "");
expr assert_none_equal(const expr& x, const expr& y, const std::string& message = "");
expr assert_less(const expr& x, const expr& y, const std::string& message = "");
expr assert_less_equal(const expr& x, const expr& y, const std::string& message = "");
expr assert_greater(const expr& x, const expr& y, const std::string& message = "");
expr assert_greater_equal(const expr& x, const expr& y, const std::string& message = "");
/// Floats: `|x - y| < absolute + relative * |y|`. By default both tolerances are ten times the
/// distance from 1 to the next number of the dtype.
expr assert_near(const expr& x, const expr& y, std::optional<double> relative = {},
                 std::optional<double> absolute = {}, const std::string& message = "");
expr assert_positive(const expr& x, const std::string& message = "");
expr assert_negative(const expr& x, const std::string& message = "");
expr assert_non_negative(const expr& x, const std::string& message = "");
expr assert_non_positive(const expr& x, const std::string& message = "");

/// Floats without NaN or infinities; `message` describes the value.
expr check_numerics(const expr& x, const std::string& message);
expr assert_all_finite(const expr& x, const std::string& message = "");

/// These two test the traced tensor, and throw `error` at once.
expr assert_type(const expr& x, dtype type, const std::string& message = "");
expr assert_integer(const expr& x, const std::string& message = "");
/// `assert_rank` with rank 0.
expr assert_scalar(const expr& x, const std::string& message = "");
/// Throws `error` if the rank is known and another; if it is unknown, each row is checked.
expr assert_rank(const expr& x, size_t rank, const std::string& message = "");

} // namespace headrace::debugging
