#pragma once

#include "headrace/pipeline/functions/expr.hpp"

/// Functions of strings, which are bytes of any encoding.
namespace headrace::strings {

expr length(const expr& x); ///< in bytes; int32
expr upper(const expr& x);  ///< ASCII letters
expr lower(const expr& x);  ///< ASCII letters
expr strip(const expr& x);  ///< without white space at both ends
/// The parts of a scalar string between separators: a vector of unknown length. With an empty
/// separator: the words between runs of white space, no empty ones.
expr split(const expr& x, const std::string& separator = "");
/// Element by element: the strings of all `xs` with `separator` between them.
expr join(const std::vector<expr>& xs, const std::string& separator = "");
/// The strings along the last axis of `x` with `separator` between them.
expr reduce_join(const expr& x, const std::string& separator = "");
/// The number that each string spells, white space round it aside. Anything else in it, or a value
/// out of range, is an error of the row.
expr to_number(const expr& x, dtype type = dtype::float32);
template <plain_value T>
expr to_number(const expr& x) {
  return to_number(x, dtype_of<T>);
}
/// Integers in decimal, floats with six digits after the point, bools as `true` and `false`.
expr as_string(const expr& x);

} // namespace headrace::strings
