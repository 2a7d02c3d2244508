#pragma once

#include "headrace/pipeline/functions/expr.hpp"
#include "headrace/pipeline/graph/dataset_node.hpp"

/// Derives functions from users' functions, for operators that are composed of others.
namespace headrace::detail {

/// The only result of the traced function `f`, an integer scalar, converted to int64.
/// `invalid_argument` for another result: `op: name gives ...`.
result<expr> integer_of(std::string_view op, std::string_view name, const function& f);
/// A function that takes the same argument as the traced function `f`, and returns a tuple: the
/// expressions `first`, which are made of the results of `f`, and last the argument itself.
function_ptr with_element(const function& f, const std::vector<expr>& first);

} // namespace headrace::detail
