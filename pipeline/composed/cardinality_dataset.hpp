#pragma once

#include "headrace/pipeline/functions/expr.hpp"
#include "headrace/pipeline/graph/dataset_node.hpp"

#include <functional>

namespace headrace::detail {

/// A dataset of one int64 element: the cardinality of `x`, which may depend on the argument of the
/// function that makes `x`. No elements are read, except those of datasets in the argument, such as
/// windows, which are counted. `invalid_argument`: the number is determined only when the elements
/// of `x` are read, as after `filter`.
result<dataset_ptr> make_cardinality(const dataset_ptr& x);

// -- for `operator_record::cardinality` -----------------------------------------------------------
// These functions return datasets of one int64 element. They throw `error` if the cardinality of an
// input is determined only when the elements of the input are read.

dataset_ptr one_number(const expr& n);
/// The number of elements of `x`, which are read and counted.
dataset_ptr counted_elements(const dataset_ptr& x);
/// The cardinality of the first input: for operators that return as many elements as this input.
dataset_ptr cardinality_of_input(const dataset_ptr& x);
/// For operators that return the elements of the datasets that a function makes: the cardinality of
/// the first input, if each of these datasets is known to have one element; else null.
dataset_ptr cardinality_of_singles(const dataset_ptr& x);
/// `f` of the cardinality of the first input.
dataset_ptr cardinality_by_input(const dataset_ptr& x, const std::function<expr(expr)>& f);
/// Like `cardinality_by_input`, but only a finite cardinality becomes `f` of it. An infinite one,
/// which is below 0, is returned unchanged.
dataset_ptr cardinality_by_finite(const dataset_ptr& x, const std::function<expr(expr)>& f);
/// The cardinalities of all inputs, combined into one number by `f`.
dataset_ptr cardinality_by_inputs(const dataset_ptr& x, const std::function<expr(expr, expr)>& f);
/// The numeric parameter `known` of the operator `x`. If it is unset, its value is the last tensor
/// of the operator, an expression (see `known_number`).
expr number_of(const dataset_node& x, const known_number& known);

} // namespace headrace::detail
